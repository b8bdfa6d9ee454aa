package resolver

import (
	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/internal/xslices"
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

// twin is another build of a package's module that is asked for as well, for the CPU or for
// GPUs: their files are the same.
func (s frameworks) twin(r pep508.Requirement) string {
	other, _ := xslices.Find(s.p.req.packages, func(o pep508.Requirement) bool {
		return o.From != OfOthers && r.From != OfOthers && PlainName(o.Name) == PlainName(r.Name) && ofCUDA().ReplaceAllString(o.Name, "") != ofCUDA().ReplaceAllString(r.Name, "")
	})
	return other.Name
}

// needed are what each version of a framework that may be installed beside a build needs.
func (q fits) needed(r pep508.Requirement, b *matrix.Build) []matrix.Need {
	f, _ := q.frameworkFor(r, b)
	return xslices.Filter(q.a.p.cache.needs[r.Name], func(n matrix.Need) bool {
		return f != nil && n.Of != "torch" && n.Fails != matrix.FailsInstall && q.a.p.frameworks().allWithin(n.Versions, r.Spec, f.Framework.Versions)
	})
}
