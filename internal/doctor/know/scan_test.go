package know

import (
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"envfix/data"
)

// A message without a literal of three bytes would be missed far down a long log.
func TestLiterals(t *testing.T) {
	k := Embedded()
	for _, n := range k.Scanner().index.Plain {
		if tt := &k.Scanner().Tests[n]; tt.Message >= 0 {
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
	k, err := Decode(data.Doctor)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range k.Messages {
		lines = append(lines, m.Example, m.Counter)
	}
	all := lines
	lines = nil
	for i, l := range all {
		if i%4 == 0 {
			lines = append(lines, l) // the rest says the same, at four times the price
		}
		if i%4 == 0 && strings.IndexFunc(l, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
			lines = append(lines, strings.ToUpper(l))
		}
	}
	lines = append(lines, "\u212Aernel \u017Fm_120, ДРАЙВЕР 535.54", "\xff显\xe6卡 RX", "GRÖSSE größe ẞ ſ", "no")
	for _, expr := range []string{`\bkernel\b|драйвер`, `sm_\d+`, `größe`, `\bно\b|n[o0]`} {
		k.Readers = append(k.Readers, &Reader{Expr: expr})
	}
	p := k.Scanner().Start()
	for _, l := range lines {
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
