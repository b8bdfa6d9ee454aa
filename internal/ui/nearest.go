package ui

import (
	"slices"
	"strings"

	"envfix/internal/near"
)

// Nearest returns the n entries of known that are most like word, the most alike
// first; entries that share nothing with it are left out. Letter case does not
// count.
func Nearest(word string, known []string, n int) []string {
	type scored struct {
		text string
		cost int
	}
	w := strings.ToLower(word)
	var all []scored
	for _, k := range known {
		cost := near.Distance(w, strings.ToLower(k))
		if cost <= max(len(w), len(k))/2 {
			all = append(all, scored{k, cost})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return a.cost - b.cost })
	var out []string
	for _, s := range all[:min(n, len(all))] {
		out = append(out, s.text)
	}
	return out
}
