package doctor

import (
	"os"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
)

// FuzzPaste: whatever is pasted, the reader does not panic, and what it answers
// is printable and names checks that exist.
func FuzzPaste(f *testing.F) {
	text, err := os.ReadFile("testdata/threads.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, thread := range strings.Split(string(text), "\n== ")[1:] {
		f.Add(thread)
	}
	for _, s := range []string{
		"", "\x00\x01\x02", "\xff\xfe\x41\x00", "> > ```\n\x1b[31mtorch==\n", strings.Repeat("(", 5000),
		"CUDA_VISIBLE_DEVICES=" + strings.Repeat(",", 300),
		"|   0  " + strings.Repeat("A", 9000) + "  Off | 00000000:01:00.0",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, _ := examine(t, s)
		for _, x := range r.Findings {
			if know.Embedded().Checks[x.Check] == nil || x.Text == "" || x.Cause == "" {
				t.Errorf("%q: %+v", s, x)
			}
			for _, e := range x.Evidence {
				if strings.ContainsAny(e, "\x1b\x00\n\r") {
					t.Errorf("%q: evidence %q", s, e)
				}
			}
		}
	})
}
