package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
)

// A healthy machine has no finding of severity warning or error.
func TestHealthy(t *testing.T) {
	files, err := filepath.Glob("testdata/healthy/*.txt")
	if err != nil || len(files) < 4 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		r, _ := examine(t, string(text))
		for _, x := range r.Findings {
			if x.Severity > know.Note {
				t.Errorf("%s: %s %s %q %q", f, x.Check, x.Severity, x.Text, x.Evidence)
			}
		}
	}
}

// Texts about other things have no finding of severity warning or error.
func TestUnrelated(t *testing.T) {
	text, err := os.ReadFile("testdata/unrelated.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range strings.Split(string(text), "\n==\n")[1:] {
		r, _ := examine(t, body)
		for _, x := range r.Findings {
			if x.Severity > know.Note {
				t.Errorf("%.60q: %s %s %q", body, x.Check, x.Severity, x.Evidence)
			}
		}
	}
}

// Harmless lines mean nothing to explain.
func TestNegatives(t *testing.T) {
	text, err := os.ReadFile("testdata/negatives.txt")
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(text)) {
		if m := first(t, l); m != "" {
			t.Errorf("%q is taken for %s", strings.TrimSpace(l), m)
		}
		r, _ := examine(t, l)
		for _, x := range r.Findings {
			t.Errorf("%q alone: %s %q", strings.TrimSpace(l), x.Check, x.Text)
		}
	}
}

// A warning after which its program goes on may be known, but nothing is to be done about it.
func TestWarningsAskForNothing(t *testing.T) {
	text, err := os.ReadFile("testdata/warnings.txt")
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(text)) {
		a, err := Explain(know.Embedded(), strings.NewReader(l))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range append(a.Matches, a.Known...) {
			if m.Cause != "none" || len(m.Fix) > 0 {
				t.Errorf("%q: %s, %q", strings.TrimSpace(l), m.Cause, m.Fix)
			}
		}
	}
}

// TestWordings tries the checks in the words of other versions of the
// programs: a line is "CHECK…|message", ⏎ a line break in it.
func TestWordings(t *testing.T) {
	text, err := os.ReadFile("testdata/wordings.txt")
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(text)) {
		want, message, _ := strings.Cut(strings.TrimSpace(l), "|")
		a, err := Explain(know.Embedded(), strings.NewReader(strings.ReplaceAll(message, "⏎", "\n")))
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Matches) == 0 || !slices.ContainsFunc(a.Matches[0].Checks,
			func(id string) bool { return slices.Contains(strings.Fields(want), id) }) {
			t.Errorf("%q: %v, want one of %s", message, a.Matches, want)
		}
	}
}
