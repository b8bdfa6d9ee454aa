package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/matrix"
)

// What stands where torch does, where nothing of a request needs torch.

// readLead finds what was asked for that needs no torch: a framework, which then stands
// where torch does, or packages that have to be built.
func (s *problem) readLead() {
	s.lead, s.built = "", false
	if s.asksTorch() {
		return
	}
	lead, built, others := "", false, false
	for _, r := range s.req.packages {
		switch {
		case s.isFramework(r.Name):
			lead = cmp.Or(lead, r.Name)
		case (s.frameworks().needsNoTorch(r.Name) || s.ofUnread(r.Name)) && r.URL == "":
			built = true
		case slices.ContainsFunc(s.m.Extensions, func(e matrix.Extension) bool { return e.Package == r.Name && !e.Torch.IsZero() }):
			return
		case s.known(r.Name) || len(s.cache.needs[r.Name]) > 0:
			others = true
		}
	}
	s.lead, s.built = lead, built && lead == "" && !others
	if strings.HasSuffix(lead, "-cpu") {
		s.req.label, s.req.named = cpu, "`"+lead+"`"
	}
}

// asksTorch reports whether something that was asked for is about torch.
func (s *problem) asksTorch() bool {
	return s.needsTorch || len(s.req.torch) > 0 || len(s.req.asked) > 0 || s.req.Build != "" || s.req.conda() || s.req.label != "" && s.req.label != cpu
}

func (s frameworks) needsNoTorch(name string) bool {
	return slices.ContainsFunc(s.p.m.Elsewhere, func(e matrix.Elsewhere) bool { return e.Package == name && e.Alone })
}

// withoutTorch refuses packages that need no torch and have to be built, or are published
// outside the default index alone.
func (s frameworks) withoutTorch() *outcome {
	o := s.p.chooser().refuse("request", NoTorch)
	o.Driver = DriverChoice{Action: noDriver}
	for _, r := range s.p.req.packages {
		if s.needsNoTorch(r.Name) {
			o.Reasons = append(o.Reasons, Reason{Rule: "companions",
				Text: fmt.Sprintf("%s: the default index has no wheel of it, but source distributions", text.Cut(r.Text, 80))})
		}
	}
	return o
}

// plainText is a requirement without what only an environment's file holds.
func plainText(r pep508.Requirement) string { return r.Name + r.Spec.String() }
