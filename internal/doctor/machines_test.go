package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
)

// sickMachines are the recorded machines on which something is wrong, with the
// check that says it.
var sickMachines = map[string]string{
	"alpine-musl":              "PY002", // nobody builds torch for musl
	"container-without-access": "CTR001",
	"kaggle-p100":              "ARC005",
	"rtx3090-mismatch":         "DRV004",
	"rtx4060-nouveau":          "KMD001",
}

// No recorded machine that is well has a finding of severity warning or error.
func TestMachines(t *testing.T) {
	files, err := filepath.Glob("../../cmd/envfix/testdata/machines/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".json")
		in, err := os.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		h, err := machine.Read(in)
		in.Close()
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		c := read.FromMachine(h)
		if c.Matrix, c.Devices, err = loaded(); err != nil {
			t.Fatal(err)
		}
		r := Examine(know.Embedded(), c)
		if want := sickMachines[name]; want != "" {
			if len(r.Findings) == 0 || r.Findings[0].Check != want {
				t.Errorf("%s: %v, want %s first", name, checksOf(r), want)
			}
			continue
		}
		for _, x := range r.Findings {
			if x.Severity > know.Note {
				t.Errorf("%s: %s %s", name, x.Check, x.Text)
			}
		}
	}
}
