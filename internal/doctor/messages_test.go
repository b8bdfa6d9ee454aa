package doctor

import (
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

func knowledge(t testing.TB) *Knowledge {
	t.Helper()
	return Embedded()
}

func first(t testing.TB, text string) string {
	t.Helper()
	a, err := knowledge(t).Explain(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Matches) == 0 {
		return ""
	}
	return a.Matches[0].Message
}

// Every message answers to its own example before any other does, and not to its
// counter-example; so every pattern is tried on every other's example.
func TestMessages(t *testing.T) {
	for _, m := range knowledge(t).Messages {
		if m.Example == "" || m.Counter == "" || m.Source == "" || m.Program == "" {
			t.Errorf("%s: example, counter, source or program is missing", m.ID)
		}
		if got := first(t, m.Example); got != m.ID {
			t.Errorf("%s: its example is taken for %q", m.ID, got)
		}
		if m.re().MatchString(m.Counter) {
			t.Errorf("%s: its counter-example matches", m.ID)
		}
		if got := first(t, m.Counter); got != "" {
			t.Errorf("%s: its counter-example is taken for %q", m.ID, got)
		}
	}
}

// A message without a literal of three bytes would be missed far down a long log.
func TestLiterals(t *testing.T) {
	k := knowledge(t)
	for _, n := range k.scanner().plain {
		if tt := k.scanner().tests[n]; tt.message >= 0 {
			t.Errorf("%s has no literal", k.Messages[tt.message].ID)
		}
	}
}

func TestPatternsAreRE2(t *testing.T) {
	k := knowledge(t)
	for _, m := range k.Messages {
		if _, err := syntax.Parse(expression(m.Pattern), syntax.Perl); err != nil {
			t.Errorf("%s: %v", m.ID, err)
		}
	}
	for _, c := range k.Clues {
		for _, p := range append(append([]string{}, c.All...), c.None...) {
			if _, err := syntax.Parse(expression(p), syntax.Perl); err != nil {
				t.Errorf("%s: %v", c.ID, err)
			}
		}
		if len(c.All)+len(c.None) > maxParts {
			t.Errorf("%s: more than %d parts", c.ID, maxParts)
		}
	}
}

// What the scan passes over, no expression matches.
func TestScanMissesNothing(t *testing.T) {
	k := knowledge(t)
	var lines []string
	for _, m := range k.Messages {
		lines = append(lines, m.Example, m.Counter)
	}
	for _, c := range k.Clues {
		lines = append(lines, c.Example)
	}
	p := k.scanner().start()
	for i, l := range lines {
		if i%4 != 0 {
			continue // the rest says the same, at four times the price
		}
		p.stamp = 0
		clear(p.seen)
		due := p.candidates(l)
		for n, tt := range p.tests {
			if tt.re().MatchString(l) && !slices.Contains(due, n) {
				t.Errorf("%q: %v matches and is not tried", l, tt.re())
			}
		}
	}
}

// Every clue is found in its own example, once its lines are read.
func TestClues(t *testing.T) {
	for _, c := range knowledge(t).Clues {
		r := NewReader(knowledge(t))
		if err := r.Read("", strings.NewReader(strings.ReplaceAll(c.Example, `\n`, "\n"))); err != nil {
			t.Fatal(err)
		}
		if got := r.Case().Clues; !slices.ContainsFunc(got, func(h ClueHit) bool { return h.Clue.ID == c.ID }) {
			t.Errorf("%s is not found in its example %q", c.ID, c.Example)
		}
	}
}
