package python

import (
	"strings"
	"testing"

	"envfix/internal/text"
)

func TestParseCondaRecord(t *testing.T) {
	tests := map[string]CondaRecord{
		"pytorch-2.3.0-py3.11_cuda12.1_cudnn8.9.2_0.json": {"pytorch", "2.3.0", "py3.11_cuda12.1_cudnn8.9.2_0"},
		"pytorch-cuda-12.1-ha16c6d3_5.json":               {"pytorch-cuda", "12.1", "ha16c6d3_5"},
		"history":                                         {},
		"x.json":                                          {},
	}
	for in, want := range tests {
		if got, _ := ParseCondaRecord(in); got != want {
			t.Errorf("parseCondaRecord(%q) = %v; want %v", in, got, want)
		}
	}
}

// FuzzFiles: whatever the files of an environment say, nothing panics, and no control
// character comes through.
func FuzzFiles(f *testing.F) {
	f.Add("Name: torch\nVersion: 2\nRequires-Dist: triton\n\nx")
	f.Add("pytorch-2.3.0-py3.11_0.json")
	f.Fuzz(func(t *testing.T, s string) {
		clean := func(s string) {
			if s != text.Printable(s) {
				t.Errorf("not printable: %q", s)
			}
		}
		var d Dist
		d.Metadata([]byte(s))
		clean(d.Name + d.Version + strings.Join(d.Requires, ""))
		if r, ok := ParseCondaRecord(s); ok {
			clean(r.Name + r.Version + r.Build)
		}
		peArch([]byte(s))
		machArch([]byte(s))
	})
}
