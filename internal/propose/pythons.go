package propose

import (
	"context"
	"slices"

	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/matrix"
	"envfix/resolver"
)

// preferred are the Pythons that are tried, in order, where pins do not tell them apart:
// those that most packages have wheels for first.
var preferred = []string{"3.12", "3.11", "3.10", "3.13", "3.9", "3.8", "3.7", "3.14"}

// pythons are the Pythons that the project and the matrix admit, those first for which the
// fewest of the requirements, and of theirs as far as they were read, have no wheel.
func (l *Loop) pythons(ctx context.Context, a *Answer, r resolver.Request) []string {
	candidates := say.Either(r.Python != "", []string{r.Python}, append(slices.Clone(l.Found), preferred...))
	lacking := map[string]int{}
	var out []string
	for _, python := range candidates {
		if r.Python == "" && !pythonAdmits(r.ProjectPython, python) || slices.Contains(out, python) {
			continue
		}
		b := a.clone()
		b.Python = python
		if l.Resolve(b.Judged(r)) == nil {
			continue
		}
		out = append(out, python)
		for _, q := range slices.Concat(r.Requirements, l.bound) {
			if !family(q.Name) && q.URL == "" && l.admits(q.Marker, python) {
				lacking[python] += map[matrix.Fit]int{matrix.FitNone: 2, matrix.FitSource: 1}[l.shelf.fit(ctx, q.Name, q.Spec, python)]
			}
		}
	}
	slices.SortStableFunc(out, func(x, y string) int { return lacking[x] - lacking[y] })
	return out
}

func (l *Loop) admits(marker, python string) bool {
	return pep508.EnvironmentOf(l.System.OS, l.System.Arch, python).Admits(marker)
}
