package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
)

// What is pasted into doctor is pasted into explain as well, which has no matrix to ask:
// it answers, each text whole and each part of it.
func TestExplainReadsPastes(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	k := know.Embedded()
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range append(strings.Split(string(b), "\n== "), string(b)) {
			if _, err := Explain(k, strings.NewReader(text)); err != nil {
				t.Errorf("%s: %.60q: %v", file, text, err)
			}
		}
	}
}
