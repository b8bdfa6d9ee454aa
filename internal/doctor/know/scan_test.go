package know

import (
	"regexp/syntax"
	"slices"
	"testing"
)

// A message without a literal of three bytes would be missed far down a long log.
func TestLiterals(t *testing.T) {
	k := Embedded()
	for _, n := range k.Scanner(nil).index.Plain {
		if tt := &k.Scanner(nil).Tests[n]; tt.Message >= 0 {
			t.Errorf("%s has no literal", k.Messages[tt.Message].ID)
		}
	}
}

func TestPatternsAreRE2(t *testing.T) {
	k := Embedded()
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
		if len(c.All)+len(c.None) > MaxParts {
			t.Errorf("%s: more than %d parts", c.ID, MaxParts)
		}
	}
}

// What the scan passes over, no expression matches.
func TestScanMissesNothing(t *testing.T) {
	k := Embedded()
	var lines []string
	for _, m := range k.Messages {
		lines = append(lines, m.Example, m.Counter)
	}
	for _, c := range k.Clues {
		lines = append(lines, c.Example)
	}
	p := k.Scanner(nil).Start()
	for i, l := range lines {
		if i%4 != 0 {
			continue // the rest says the same, at four times the price
		}
		p.stamp = 0
		clear(p.seen)
		due := p.Candidates(l)
		for n := range p.Tests {
			tt := &p.Tests[n]
			if tt.Re().MatchString(l) && !slices.Contains(due, n) {
				t.Errorf("%q: %v matches and is not tried", l, tt.Re())
			}
		}
	}
}
