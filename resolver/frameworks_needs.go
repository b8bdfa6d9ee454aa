package resolver

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// What frameworks need of packages other than torch: of each version that may be
// installed, as an old tensorflow needs NumPy 1.

// needsWithin are the needs that hold for every version of a package that some
// specifiers admit.
func (s frameworks) needsWithin(name string, specs ...version.Specifier) []matrix.Need {
	if len(s.p.cache.needs[name]) == 0 {
		return nil
	}
	key := name
	for _, spec := range specs {
		key += ";" + spec.String()
	}
	out, known := s.p.cache.within[key]
	if !known {
		out = s.allNeedsWithin(name, specs)
		s.p.cache.within[key] = out
	}
	return out
}

func (s frameworks) allNeedsWithin(name string, specs []version.Specifier) []matrix.Need {
	var out []matrix.Need
	for _, n := range s.p.cache.needs[name] {
		if n.Of != "torch" && s.allWithin(n.Versions, specs) {
			out = append(out, n)
		}
	}
	return out
}

func (s frameworks) allWithin(all version.Specifier, specs []version.Specifier) bool {
	texts := []string{all.String()}
	for _, spec := range specs {
		texts = append(texts, spec.String())
	}
	key := strings.Join(texts, "\n")
	within, known := s.p.cache.whole[key]
	if !known {
		within = allOf(all, specs, texts)
		s.p.cache.whole[key] = within
	}
	return within
}

// allOf reports whether some version satisfies the specifiers and each that does is one
// of all. texts are what they say.
func allOf(all version.Specifier, specs []version.Specifier, texts []string) bool {
	some := false
	for _, v := range samples(texts...) {
		if slices.ContainsFunc(specs, func(spec version.Specifier) bool { return !spec.Admits(v) }) {
			continue
		}
		if some = true; !all.Admits(v) {
			return false
		}
	}
	return some
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

// frameworksNeed names the first framework of the request with a need that the rest of
// the request excludes, and says which; "" none.
func (s frameworks) frameworksNeed() (name, why string) {
	for _, r := range s.p.req.packages {
		if n, other := s.brokenNeed(r.Name, r.Spec); n != nil && s.isFramework(r.Name) {
			return text.Cut(r.Text, 80), needText(n, other)
		}
	}
	return "", ""
}

// frameworkNeed says the same of a row of a framework.
func (s frameworks) frameworkNeed(r pep508.Requirement, f matrix.Framework) string {
	if n, other := s.brokenNeed(f.Package, r.Spec, f.Versions); n != nil {
		return "it " + needText(n, other)
	}
	return ""
}

// needText says a broken need as the end of a sentence that begins with the package.
func needText(n *matrix.Need, r pep508.Requirement) string {
	return fmt.Sprintf("works with %s%s only (with another, %s), and you asked for %s", n.Of, n.Range, n.Effect, text.Cut(r.Text, 80))
}

// frameworkHolds are the limits that the frameworks of a request set on packages whose
// version the installer finds. row is what the chosen row of a framework admits.
func (s frameworks) frameworkHolds(row func(pep508.Requirement) version.Specifier) []string {
	var out []string
	for _, r := range s.p.req.packages {
		if !s.isFramework(r.Name) {
			continue
		}
		for _, n := range s.needsWithin(r.Name, r.Spec, row(r)) {
			if held := n.Of + n.Range.String(); n.Fails != matrix.FailsInstall && !slices.Contains(out, held) {
				out = append(out, held)
			}
		}
	}
	return out
}

// unlimited is the row of a framework that no row was chosen of.
func unlimited(pep508.Requirement) version.Specifier { return version.Specifier{} }

// olderMajor reports whether a CUDA such as "11.8" or "12" is of an older major release
// than another; false where one is not known.
func olderMajor(cu, than string) bool {
	a, err := version.ParseDotted(cu)
	b, other := version.ParseDotted(than)
	return err == nil && other == nil && a.Major() < b.Major()
}
