package read

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
)

// Every clue is found in its own example, once its lines are read.
func TestClues(t *testing.T) {
	for _, c := range know.Embedded().Clues {
		r := NewReader(know.Embedded())
		if err := r.Read("", strings.NewReader(strings.ReplaceAll(c.Example, `\n`, "\n"))); err != nil {
			t.Fatal(err)
		}
		if got := r.Case().Clues; !slices.ContainsFunc(got, func(h ClueHit) bool { return h.Clue.ID == c.ID }) {
			t.Errorf("%s is not found in its example %q", c.ID, c.Example)
		}
	}
}
