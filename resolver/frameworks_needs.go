package resolver

import (
	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/matrix"
)

// What frameworks need of packages other than torch: of each version that may be
// installed, as an old tensorflow needs NumPy 1.

// allWithin reports whether some version satisfies the specifiers and each that does is
// one of all.
func (s frameworks) allWithin(all version.Specifier, specs ...version.Specifier) bool {
	return s.p.cache.some(specs) && !s.p.cache.some(specs, all)
}

// brokenNeed is a need of a package, in the versions that some specifiers admit, that
// another requirement of the request excludes; nil none.
func (s frameworks) brokenNeed(name string, specs ...version.Specifier) (*matrix.Need, pep508.Requirement) {
	for _, n := range s.p.cache.needs[name] {
		for _, r := range s.p.req.packages {
			if r.Name == n.Of && r.URL == "" && n.Of != "torch" && !s.p.cache.overlap(n.Range, r.Spec) && s.allWithin(n.Versions, specs...) {
				return &n, r
			}
		}
	}
	return nil, pep508.Requirement{}
}
