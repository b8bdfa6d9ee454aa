package know

import (
	"regexp"
	"slices"
	"testing"
)

func TestAlternativesOfAnExpression(t *testing.T) {
	for expr, want := range map[string][]string{
		`a`: {`a`}, `a|b`: {`a`, `b`}, `(a|b)c|d`: {`(a|b)c`, `d`}, `a\|b|c`: {`a\|b`, `c`}, `[|]|x`: {`[|]`, `x`},
		`[]|]|x`: {`[]|]`, `x`}, `[^]|]|x`: {`[^]|]`, `x`}, `[\]|]|\[|x`: {`[\]|]`, `\[`, `x`},
		`[[:alpha:]|]|\(|y`: {`[[:alpha:]|]`, `\(`, `y`}, `a|`: {`a`, ``},
	} {
		if got := alternatives(expr); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
	for _, c := range Embedded().Clues {
		for i := range len(c.All) + len(c.None) {
			for _, p := range alternatives(c.part(i)) {
				if _, err := regexp.Compile(p); err != nil || p == "" {
					t.Errorf("%s: part %d: alternative %q: %v", c.ID, i+1, p, err)
				}
			}
		}
	}
}
