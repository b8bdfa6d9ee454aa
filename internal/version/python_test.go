package version

import "testing"

// TestTrust: a trusted text behaves as the parsed one does.
func TestTrust(t *testing.T) {
	for _, s := range []string{"2.14.1", "2.6.0rc1", "3.12", "0.0.33.post2"} {
		a, b := TrustPython(s), MustPython(s)
		if a.Compare(b) != 0 || a.String() != s || a.IsPreRelease() != b.IsPreRelease() {
			t.Errorf("%s: trusted and parsed differ", s)
		}
		for _, spec := range []string{"", ">=2.6", "==2.*", "<2.6.0", "<2.6.0rc2", "!=3.12"} {
			want, err := ParseSpecifier(spec)
			if err != nil {
				t.Fatal(err)
			}
			if got := TrustSpecifier(spec); got.Admits(a) != want.Admits(b) || got.String() != spec {
				t.Errorf("%q with %s: trusted %v, parsed %v", spec, s, got.Admits(a), want.Admits(b))
			}
		}
	}
	if !TrustPython("").IsZero() || !TrustSpecifier("").IsZero() {
		t.Error("empty text is not zero")
	}
}
