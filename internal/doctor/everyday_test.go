package doctor

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
)

// TestEveryday reads testdata/everyday.txt: what people paste, each under the causes of
// which the first finding has one (- any, silent: nothing is wrong) and the words that
// its answer holds, as expressions between " && ".
func TestEveryday(t *testing.T) {
	text, err := os.ReadFile("testdata/everyday.txt")
	if err != nil {
		t.Fatal(err)
	}
	bodies := strings.Split("\n"+string(text), "\n== ")[1:]
	if len(bodies) < 100 {
		t.Errorf("%d texts", len(bodies))
	}
	for _, body := range bodies {
		head, body, _ := strings.Cut(body, "\n")
		causes, words, _ := strings.Cut(head, ": ")
		r, _ := examine(t, body)
		if causes == "silent" {
			for _, f := range r.Findings {
				if f.Severity > know.Note {
					t.Errorf("%.60q: %s %q", body, f.Check, f.Text)
				}
			}
			continue
		}
		if len(r.Findings) == 0 || causes != "-" && !slices.Contains(strings.Split(causes, "|"), r.Findings[0].Cause) {
			t.Errorf("%.60q (%s): %s", body, causes, checksOf(r))
			continue
		}
		for want := range strings.SplitSeq(words, " && ") {
			if answer := answerOf(r); want != "" && !regexp.MustCompile(`(?i)`+want).MatchString(answer) {
				t.Errorf("%.60q: no %q in\n%s", body, want, answer)
			}
		}
	}
}

// answerOf is what the first findings say, and what they say to do.
func answerOf(r Report) string {
	var out []string
	for _, f := range r.Findings[:min(3, len(r.Findings))] {
		out = append(out, f.Text)
		out = append(out, f.Fix...)
	}
	return strings.Join(out, "\n")
}
