package read

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"envfix/data"
	"envfix/internal/doctor/know"
)

// Every clue is found in a text of testdata, which somebody wrote.
func TestClues(t *testing.T) {
	found := map[string]bool{}
	names, err := filepath.Glob("../testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		texts, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.Split(string(texts), "\n==")[1:] {
			_, body, _ := strings.Cut(text, "\n")
			r := NewReader(know.Embedded())
			if err := r.Read("", strings.NewReader(body)); err != nil {
				t.Fatal(err)
			}
			for _, h := range r.Case().Clues {
				found[h.Clue.ID] = true
			}
		}
	}
	for _, c := range know.Embedded().Clues {
		if !found[c.ID] {
			t.Errorf("%s is found in no text of testdata", c.ID)
		}
	}
}

// TestCompiled keeps the compiled form in step with the files, and with the
// expressions of the readers.
func TestCompiled(t *testing.T) {
	blob, err := know.Compile(data.FS)
	if err != nil {
		t.Fatal(err)
	}
	if string(blob) != data.Doctor {
		t.Error("data/doctor.bin is not of these files: run `go generate ./data`")
	}
}

// A text that looks like messages from end to end, in one line, is not read to its end, and
// says so; a log of the same length is.
func TestReaderIsBounded(t *testing.T) {
	text, err := os.ReadFile("../testdata/everyday.txt")
	if err != nil {
		t.Fatal(err)
	}
	line := strings.ReplaceAll(string(text), "\n", " ")
	for _, c := range []struct {
		text string
		full bool
	}{{strings.Repeat(line, 8), true}, {strings.Repeat(string(text), 8), false}, {strings.Repeat("{\"a\":", 1e6), false}} {
		r := NewReader(know.Embedded())
		if err := r.Read("", strings.NewReader(c.text)); err != nil {
			t.Fatal(err)
		}
		if notes := r.Case().Notes; (len(notes) == 1 && strings.HasPrefix(notes[0], "only its first")) != c.full {
			t.Errorf("%.40q…: %d bytes tried, %q", c.text, r.spent, notes)
		}
		if r.spent > 2*budget+2*maxLine {
			t.Errorf("%.40q…: %d bytes tried", c.text, r.spent)
		}
	}
}

// BenchmarkReader is what the first line of a text costs.
func BenchmarkReader(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(know.Embedded())
		if err := r.Read("", strings.NewReader("Torch not compiled with CUDA enabled")); err != nil {
			b.Fatal(err)
		}
	}
}
