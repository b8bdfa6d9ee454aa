package propose

import (
	"slices"
	"testing"

	"envfix/resolver"
)

// Sources that are built alike are one sentence; of one that is set aside nothing is built.
func TestTellBuilds(t *testing.T) {
	l := &Loop{Later: func(string) bool { return false }}
	a := &Answer{Aside: []string{"flash-attn"}, Build: []Source{{Name: "flash-attn", Version: "2.8.3", Kind: "CUDA"}, {Name: "a", Version: "1", Kind: "pure", Read: "PKG-INFO"},
		{Name: "b", Version: "2", Kind: "compiler"}, {Name: "c", Version: "3", Kind: "pure", Read: "PKG-INFO"}}}
	l.tellBuilds(a, resolver.Request{})
	want := []string{
		"only a source distribution is there of each of a 1, c 3 (pure Python): its requirements were read from the PKG-INFO in its archive, nothing of it was run; it is built at apply",
		"only a source distribution is there of b 2 (building needs a compiler): what it requires is not known; it is built at apply",
	}
	if !slices.Equal(a.Said, want) {
		t.Errorf("%q", a.Said)
	}
}
