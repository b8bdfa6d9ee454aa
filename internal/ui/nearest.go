package ui

import (
	"slices"
	"strings"
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
		cost := distance(w, strings.ToLower(k))
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

// distance is the number of single characters to insert, delete or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
