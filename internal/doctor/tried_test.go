package doctor

import (
	"os"
	"slices"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
)

// Whatever is advised first, of every kept text and of every message, is carried out in
// vain, four times over: what comes then is
// another remedy, never the same one and never that all is well.
func TestWhatWasDoneInVainIsNotAdvisedAgain(t *testing.T) {
	file, err := os.ReadFile("testdata/everyday.txt")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, body := range strings.Split("\n"+string(file), "\n== ")[1:] {
		_, text, _ := strings.Cut(body, "\n")
		texts = append(texts, text)
	}
	for _, m := range knowledge(t).Messages {
		texts = append(texts, m.Example)
	}
	asked := 0
	for _, text := range texts {
		var done []string
		for range 4 {
			r, _ := examine(t, text)
			if len(done) > 0 && (len(r.Findings) == 0 || r.Findings[0].Severity <= know.Note || r.Verdict == Healthy && r.Findings[0].Severity == know.Error) {
				t.Errorf("%.60q: after %q all is well", text, done)
				break
			}
			if len(r.Findings) == 0 || r.Findings[0].Severity <= know.Note || strings.HasPrefix(r.Findings[0].Text, exhausted) {
				break
			}
			way := r.Findings[0].Fix[0]
			if slices.Contains(done, way) {
				t.Errorf("%.60q: %q is advised again", text, way)
				break
			}
			asked++
			done = append(done, way)
			text += "\nDone, and it did not help: " + way
		}
	}
	if asked < 1000 {
		t.Errorf("%d remedies were tried", asked)
	}
}
