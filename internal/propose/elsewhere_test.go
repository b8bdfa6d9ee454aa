package propose

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/pep508"
	"envfix/internal/text"
)

// What is found without the build that a pin names, as a page of files has it, is installed
// without: the pin itself is on no index.
func TestBuildElsewhere(t *testing.T) {
	f := files{}
	f.wheel("scatter", "2.1.0", "py3-none-any")
	f.sdist("cluster", "1.6.0", filepath.Join(t.TempDir(), "ran"), map[string]string{"PKG-INFO": "Metadata-Version: 2.2\nName: cluster\nVersion: 1.6.0\n"})
	r := request(t, "torch", "scatter==2.1.0+pt113cu117", "cluster==1.6.0+pt113cu117")
	l := asks(t, f)
	for want, a := range map[string]*Answer{
		"torch scatter==2.1.0 cluster==1.6.0":            propose(t, l, r),
		"torch scatter==2.1.0+pt113cu117 cluster==1.6.0": l.Unresolved(t.Context(), r, "no uv"), // of what is no source nobody said what there is
	} {
		if got := strings.Join(text.Each(a.Installed(r).Requirements, pep508.Requirement.Line), " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if said := "cluster==1.6.0+pt113cu117 (requirements.txt:1): the index has it in no such build, and cluster==1.6.0 without is installed"; !slices.Contains(a.Said, said) {
			t.Errorf("%q", a.Said)
		}
	}
}
