package resolver

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// A Policy is what a team admits, whatever one of them asks for: a rule like any other.
type Policy struct {
	Driver  int      `json:"least_driver,omitempty"` // least branch of the NVIDIA driver, such as 570
	CUDA    []string `json:"cuda,omitempty"`         // "12.6" that one, "12" any 12.x; empty: any
	Indexes []string `json:"indexes,omitempty"`      // default, pytorch, conda-forge or a URL; empty: any
	Mirrors []string `json:"mirrors,omitempty"`      // FROM=TO, as of --mirror
	Never   []string `json:"never,omitempty"`        // normalised names of packages that are never installed
}

// policyRule: the team's policy admits the build's CUDA, its index and the driver.
func policyRule(q *attempt, b *matrix.Build) *Reason {
	p := q.p.req.Policy
	switch {
	case p == nil:
		return nil
	case !b.CUDA.IsZero() && !p.admitsCUDA(b.CUDA):
		return q.no(teamsPolicy, "the team's policy admits CUDA %s", text.Cut(strings.Join(p.CUDA, ", "), 80))
	case !p.admitsIndex(b, q.fromDefault(b)):
		return q.no(teamsPolicy, "the team's policy admits the indexes %s, and it is not there", text.Cut(strings.Join(p.Indexes, ", "), 200))
	case q.accel == cuda && q.drv.compared && q.drv.version.Less(p.leastDriver()):
		return q.no(teamsPolicy, "the team's policy asks for driver branch %d or newer; there is %s", p.Driver, driverText(q.drv))
	}
	return nil
}

const teamsPolicy = "[policy] of envfix.toml"

func policyWord(q *attempt, _ *matrix.Build) string {
	return "the team's policy admits it (" + q.p.req.Policy.Text() + ")"
}

// Text is what a policy says, in one line.
func (p *Policy) Text() string {
	var parts []string
	if p.Driver > 0 {
		parts = append(parts, fmt.Sprintf("driver branch %d or newer", p.Driver))
	}
	for _, list := range []struct {
		what  string
		items []string
	}{{"CUDA ", p.CUDA}, {"from ", p.Indexes}, {"mirrors ", p.Mirrors}, {"never ", p.Never}} {
		if len(list.items) > 0 {
			parts = append(parts, list.what+strings.Join(list.items, ", "))
		}
	}
	return say.Either(len(parts) == 0, "it says nothing", text.Cut(strings.Join(parts, "; "), 300))
}

func (p *Policy) leastDriver() version.Dotted {
	if p == nil || p.Driver == 0 {
		return version.Dotted{}
	}
	return version.MustDotted(fmt.Sprint(p.Driver))
}

func (p *Policy) admitsCUDA(v version.Dotted) bool {
	return xslices.Admits(p.CUDA, v.MajorMinor()) || slices.Contains(p.CUDA, fmt.Sprint(v.Major())) ||
		v.String() == fmt.Sprint(v.Major()) && slices.ContainsFunc(p.CUDA, func(c string) bool { return major(c) == v.String() })
}

func (p *Policy) admitsIndex(b *matrix.Build, fromDefault bool) bool {
	if len(p.Indexes) == 0 {
		return true
	}
	return slices.ContainsFunc(p.Indexes, func(i string) bool {
		i = strings.TrimSuffix(i, "/")
		switch {
		case i == "default":
			return fromDefault
		case i == "pytorch":
			return !fromDefault && strings.HasPrefix(b.Index, pytorchHost)
		}
		return !fromDefault && (b.Index == i || strings.HasPrefix(b.Index, i+"/"))
	})
}

// forbidden is a requirement that the policy never installs.
func (w *request) forbidden() string {
	if w.Policy == nil {
		return ""
	}
	for _, q := range w.Requirements {
		if slices.Contains(w.Policy.Never, machine.NormalName(q.Name)) {
			return fmt.Sprintf("the team's policy never installs %s", text.Cut(q.Name, 80))
		}
	}
	return ""
}

// underPolicy names the policy in a refusal that does not name it yet: what was tried
// was tried under it.
func (s *problem) underPolicy(o *outcome) {
	p := s.req.Policy
	if p == nil || o.Decision != NoSolution || s.req.forbidden() != "" || slices.ContainsFunc(o.Reasons, func(r Reason) bool { return r.Rule == "policy" }) {
		return
	}
	o.Reasons = append(o.Reasons, Reason{Rule: "policy", Text: "the team's policy holds besides: " + p.Text(), Source: teamsPolicy})
}
