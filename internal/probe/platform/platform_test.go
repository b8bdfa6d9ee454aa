package platform

import (
	"regexp"
	"testing"

	"envfix/internal/text"

	"github.com/google/go-cmp/cmp"
)

func TestParseOSRelease(t *testing.T) {
	got := parseOSRelease("# comment\nID=\"rocky\"\nID_LIKE='rhel centos fedora'\nVERSION_ID=9.4\nNAME=\"A \\\"quoted\\\" \x1b[31mname\"\n=x\nbroken\n")
	want := map[string]string{"ID": "rocky", "ID_LIKE": "rhel centos fedora", "VERSION_ID": "9.4", "NAME": `A "quoted" name`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzPlatform: whatever a machine's files say, nothing panics, and no control character
// comes through.
func FuzzPlatform(f *testing.F) {
	f.Add("ID=debian\n")
	f.Add("\x7fELF")
	f.Fuzz(func(t *testing.T, s string) {
		for _, v := range parseOSRelease(s) {
			if v != text.Printable(v) {
				t.Errorf("not printable: %q", v)
			}
		}
		ELFArch([]byte(s))
	})
}

// TestPatterns compiles what else would only panic on the machine that needs it.
func TestPatterns(t *testing.T) {
	for _, p := range []func() *regexp.Regexp{
		redhatRelease, containerGroup, l4tRelease, tegraChip, glibcName, glibcStore, muslVersion, apkMusl,
	} {
		if p() == nil {
			t.Error("no pattern")
		}
	}
}
