package version

import (
	"testing"

	pep440 "github.com/aquasecurity/go-pep440-version"
	hashicorp "github.com/hashicorp/go-version"
	"pgregory.net/rapid"
)

// TestOrder holds the order of dotted numbers against go-version's.
func TestOrder(t *testing.T) {
	text := rapid.StringMatching(`(0|[1-9][0-9]{0,3})(\.[0-9]{1,3}){0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		want := hashicorp.Must(hashicorp.NewVersion(a)).Compare(hashicorp.Must(hashicorp.NewVersion(b)))
		if got := MustDotted(a).Compare(MustDotted(b)); got != want {
			t.Fatalf("%s against %s: %d, go-version says %d", a, b, got, want)
		}
	})
}

// TestPythonOrder holds the order of Python's versions against the library's.
func TestPythonOrder(t *testing.T) {
	text := rapid.StringMatching(`(0|[1-9][0-9]{0,3})(\.[0-9]{1,3}){0,5}(rc1|\.post2|\.dev3)?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		want := pep440.MustParse(a).Compare(pep440.MustParse(b))
		if got := MustPython(a).Compare(MustPython(b)); got != want {
			t.Fatalf("%s against %s: %d, the library says %d", a, b, got, want)
		}
	})
}

func TestMinor(t *testing.T) {
	for v, want := range map[string]string{"2.14.1+cu126": "2.14", "3.12": "3.12", "3": "3", "": ""} {
		if got := Minor(v); got != want {
			t.Errorf("Minor(%q) = %q, want %q", v, got, want)
		}
	}
}
