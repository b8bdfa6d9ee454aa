package system

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is written in whatever pieces, the end of it is kept, and little more.
func TestTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 20).Draw(t, "most")
		l, all := Tail{Most: most}, ""
		for _, piece := range rapid.SliceOf(rapid.StringN(0, 50, 60)).Draw(t, "pieces") {
			if n, err := l.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
			all += piece
		}
		if !strings.HasSuffix(all, l.String()) || len(l.String()) != min(most, len(all)) || len(l.b) > 2*most {
			t.Errorf("%q of %q, %d bytes kept", l.String(), all, len(l.b))
		}
	})
}
