package resolver

import (
	"slices"

	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/matrix"
)

// brought adds what packages of the request bring and what has to be of torch's own
// build: ultralytics brings torchvision, which the default index has for another CUDA;
// flax brings jax, which computes on the CPU where it is not asked for with its CUDA.
func (s *problem) brought() {
	s.memo.picks = s.shared()
	for _, r := range slices.Clone(s.req.packages) {
		if r.URL != "" {
			continue
		}
		for _, name := range s.m.BroughtBy(r.Name) {
			s.broughtByHand(r.Name, name)
		}
		if !s.m.HasDists(r.Name) {
			continue
		}
		for _, p := range append(s.pythons(), py{}) {
			q := s.ask("", nil, driver{}, p)
			if q.packages().pick(r, nil).dist != nil {
				q.packages().bringing(r, nil, s.alsoAsked)
				break // the first Python that the package is for
			}
		}
	}
}

// broughtByHand adds what a row says that a package brings, unless what may stand in its
// place was asked for.
func (s *problem) broughtByHand(of, name string) {
	instead := s.m.InsteadOf(of, name)
	if slices.ContainsFunc(s.req.packages, func(r pep508.Requirement) bool { return slices.Contains(instead, plainName(r.Name)) }) {
		return
	}
	if !slices.Contains(companions, name) {
		s.alsoAsked(pep508.Requirement{Name: name, Text: name})
	} else if _, there := s.req.asked[name]; !there {
		s.req.asked[name] = nil
	}
}

// alsoAsked adds a requirement of a package to the request, where its build matters.
func (s *problem) alsoAsked(r pep508.Requirement) {
	name := plainName(r.Name)
	framework := slices.ContainsFunc(s.m.Frameworks, func(f matrix.Framework) bool { return f.Package == r.Name })
	if rows := s.framework(r.Name); len(rows) == 0 || s.cache.overlap(rows[0].Framework.Versions, r.Spec) {
		r.Spec = version.Specifier{} // the newest may be taken
	}
	i := slices.IndexFunc(s.req.packages, func(q pep508.Requirement) bool { return plainName(q.Name) == name })
	switch _, there := s.req.asked[r.Name]; {
	case r.Name == "torch":
		s.needsTorch = true
	case slices.Contains(companions, r.Name) && !there && !slices.Contains(s.req.optional, r.Name):
		s.req.optional = append(s.req.optional, r.Name) // what brings it speaks against a torch without one
	case framework && i < 0:
		s.req.packages = append(s.req.packages, pep508.Requirement{Name: r.Name, Spec: r.Spec, Text: plainText(r)})
	case framework && !r.Spec.IsZero() && s.req.packages[i].URL == "" && s.cache.overlap(s.req.packages[i].Spec, r.Spec):
		s.req.packages[i].Spec = both(s.req.packages[i].Spec, r.Spec)
	}
}

// both admits what two specifiers admit.
func both(a, b version.Specifier) version.Specifier {
	if a.IsZero() || a.String() == b.String() {
		return b
	}
	s, err := version.ParseSpecifier(a.String() + "," + b.String())
	if err != nil {
		return a
	}
	return s
}

// broughtBeside are the packages that one of the request brings beside a build.
func (q *attempt) broughtBeside(e extension, b *matrix.Build) []string {
	r := e.req
	if e.row != nil {
		r.Spec = exactly(e.row.Version)
	}
	out := q.p.m.BroughtBy(e.name)
	q.packages().bringing(r, b, func(next pep508.Requirement) { out = append(out, next.Name) })
	return out
}

func exactly(v version.Python) version.Specifier {
	s, _ := version.ParseSpecifier("==" + v.String())
	return s
}
