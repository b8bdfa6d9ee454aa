package resolver

import (
	"slices"

	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/matrix"
)

// What frameworks need of packages other than torch: of each version that may be
// installed, as an old tensorflow needs NumPy 1.

// allWithin reports whether some version satisfies the specifiers and each that does is
// one of all.
func (s frameworks) allWithin(all version.Specifier, specs []version.Specifier) bool {
	return s.p.cache.some(specs) && !s.p.cache.some(specs, all)
}

// brokenNeed is a need of a package, in the versions that some specifiers admit, that
// another requirement of the request excludes; nil none.
func (s frameworks) brokenNeed(name string, specs ...version.Specifier) (*matrix.Need, pep508.Requirement) {
	for _, n := range s.p.cache.needs[name] {
		for _, r := range s.p.req.packages {
			if r.Name == n.Of && r.URL == "" && n.Of != "torch" && !s.p.cache.overlap(n.Range, r.Spec) && s.allWithin(n.Versions, specs) {
				return &n, r
			}
		}
	}
	return nil, pep508.Requirement{}
}

// frameworkHolds are the limits that the frameworks of a request set, beside a build, on
// packages whose version the installer finds.
func (q fits) frameworkHolds(b *matrix.Build) []string {
	var out []string
	for _, r := range q.a.p.req.packages {
		f, _ := q.frameworkFor(r, b)
		if f == nil {
			continue
		}
		for _, n := range q.a.p.cache.needs[r.Name] {
			held := n.Of + n.Range.String()
			if n.Of != "torch" && n.Fails != matrix.FailsInstall && !slices.Contains(out, held) &&
				q.a.p.frameworks().allWithin(n.Versions, []version.Specifier{r.Spec, f.Framework.Versions}) {
				out = append(out, held)
			}
		}
	}
	return out
}
