package know

import (
	"io/fs"
	"strings"
	"testing"

	"envfix/data"
)

// Every name of an enumeration that the catalogue holds has one class, and of few it is
// only that the library failed inside.
func TestEveryCodeHasItsClass(t *testing.T) {
	text, err := fs.ReadFile(data.FS, "catalogue.txt")
	if err != nil {
		t.Fatal(err)
	}
	k := Embedded()
	codes, inside := 0, 0
	for line := range strings.Lines(string(text)) {
		parts := strings.Split(strings.TrimSpace(line), "\t")
		if parts[0] != "c" {
			continue
		}
		codes++
		row, found := k.Printed.Find("it failed: " + parts[2] + ", at once")
		if !found || !row.Code || !strings.EqualFold(row.Text, parts[2]) {
			t.Errorf("%s is not found", parts[2])
		}
		switch c, _ := k.ClassOf(row, parts[2]); {
		case c == nil:
			t.Errorf("%s has no class", parts[2])
		case c.ID == "library-internal":
			inside++
		}
	}
	if codes < 400 || inside*20 > codes {
		t.Errorf("%d names, of %d of them no more is known than that the library failed", codes, inside)
	}
}

// A class that lists a name lists one that exists.
func TestClassesNameWhatExists(t *testing.T) {
	k := Embedded()
	text, _ := fs.ReadFile(data.FS, "catalogue.txt")
	used := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if name, code := strings.CutPrefix(strings.TrimSpace(line), "c\t"); code {
			_, name, _ = strings.Cut(name, "\t")
			_, by := k.classOfCode(name)
			used[by] = true
		}
	}
	for _, c := range k.Classes {
		for _, n := range c.Names {
			if !used[c.ID+" "+n] {
				t.Errorf("%s: no enumeration has %s", c.ID, n)
			}
		}
	}
}

// A code is a whole word, and a line of no program's is not known.
func TestFind(t *testing.T) {
	k := Embedded()
	for line, want := range map[string]string{
		"RuntimeError: cudaErrorInvalidValue (1)":         "cudaerrorinvalidvalue",
		"cudaErrorInvalidValueOfMine":                     "",
		"pynvml.NVMLError_GpuIsLost: GPU is lost":         "nvmlerror_gpuislost",
		"my_CUDA_ERROR_NO_DEVICE":                         "",
		"all is well with this line of an ordinary log":   "",
		"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: not here": "cuda_error_stream_capture_unsupported",
	} {
		if row, _ := k.Printed.Find(line); row.Text != want {
			t.Errorf("%q is %q, want %q", line, row.Text, want)
		}
	}
}
