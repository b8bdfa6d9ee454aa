package resolver

import (
	"slices"

	"envfix/internal/pep508"
	"envfix/matrix"
)

// brought adds what packages of the request bring and what has to be of torch's own
// build: ultralytics brings torchvision, which the default index has for another CUDA;
// flax brings jax, which computes on the CPU where it is not asked for with its CUDA.
func (s *problem) brought() {
	for _, r := range slices.Clone(s.req.packages) {
		if r.URL == "" {
			for _, name := range s.m.BroughtBy(r.Name) {
				s.broughtBy(r.Name, name)
			}
		}
	}
}

// broughtBy adds what a row says that a package brings, where its build matters, unless
// what may stand in its place was asked for.
func (s *problem) broughtBy(of, name string) {
	instead := append([]string{PlainName(name)}, s.m.InsteadOf(of, name)...)
	if slices.ContainsFunc(s.req.packages, func(r pep508.Requirement) bool { return slices.Contains(instead, PlainName(r.Name)) }) {
		return
	}
	_, there := s.req.asked[name]
	switch framework := slices.ContainsFunc(s.m.Frameworks, func(f matrix.Framework) bool { return f.Package == name }); {
	case name == "torch":
		s.needsTorch = true
	case slices.Contains(companions, name) && !there:
		s.req.asked[name] = nil
	case framework:
		s.req.packages = append(s.req.packages, pep508.Requirement{Name: name, Text: name})
	}
}
