package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
)

// Why a framework, or a newer CUDA of it, was not chosen, and the ways out.

// refuseFramework is a refusal that is not about torch.
func (s frameworks) refuseFramework(rule, why string) *outcome {
	o := s.p.chooser().refuse(rule, why)
	o.Reasons = append(o.Reasons, Reason{Rule: "request", Text: NoTorch})
	return o
}

// forCPU reports whether every framework of the request is one for the CPU by its name:
// tensorflow-cpu.
func (s frameworks) forCPU() bool {
	return !slices.ContainsFunc(s.p.req.packages, func(r pep508.Requirement) bool { return s.isFramework(r.Name) && !strings.HasSuffix(r.Name, "-cpu") })
}

// cudaExtra reports whether a framework was asked for with the extra of one CUDA: then
// its plain package is no answer.
func (s frameworks) cudaExtra() bool {
	return slices.ContainsFunc(s.p.req.packages, func(r pep508.Requirement) bool {
		return s.isFramework(r.Name) && slices.ContainsFunc(r.Extras, func(x string) bool { return strings.Contains(x, "cuda") })
	})
}

// frameworkHeldBack says what kept a newer CUDA of a framework from being chosen, the
// driver before all else, because the release has its own reasons; else what kept a
// newer release; "" nothing did.
func (q fits) frameworkHeldBack(c *Choice) string {
	for _, r := range q.a.p.req.packages {
		held := ""
		for _, f := range q.a.p.frameworks().frameworkRows(r.Name) {
			newerCUDA := major(f.CUDA) != c.CUDA
			if c.Ask[r.Name] == "" || !q.a.p.cache.overlap(f.Versions, r.Spec) || strings.HasPrefix(c.Ask[r.Name], f.Ask) && !newerCUDA {
				break // the newest row is the one
			}
			if why := q.olderDriver(framework{Framework: f}); newerCUDA && why != "" {
				held = fmt.Sprintf("%s%s: %s", f.Ask, f.Versions, why)
				break
			}
			if why := q.frameworkFault(framework{Framework: f, asked: r}); why != "" && held == "" {
				held = fmt.Sprintf("%s%s: %s", f.Ask, f.Versions, why)
			}
		}
		if held != "" {
			return held
		}
	}
	return ""
}

// frameworkWaysOut are another Python, and no version, where frameworks were refused.
func (s frameworks) frameworkWaysOut() []string {
	out := s.otherPython()
	for _, r := range s.p.req.packages {
		if !s.isFramework(r.Name) {
			continue
		}
		if s.cudaExtra() {
			if c := settled(s.withoutExtras(r.Name)); c != nil && c.Ask[r.Name] != "" {
				out = append(out, fmt.Sprintf("%s instead of the extra that was asked for", c.Ask[r.Name]))
			}
		}
		if r.Spec.IsZero() {
			continue
		}
		if c := settled(s.changed(r.Name, func(q *pep508.Requirement) { q.Spec, q.Text = version.Specifier{}, r.Name })); c != nil {
			out = append(out, fmt.Sprintf("%s in another version than %s: %s", r.Name, text.Cut(r.Spec.String(), 80), cmp.Or(c.Ask[r.Name], r.Name)))
		}
	}
	if len(out) == 0 {
		out = append(out, "a system or a container for which there are wheels")
	}
	return out
}

// otherPython is the Python nearest to the one at hand that there are wheels for.
func (s frameworks) otherPython() []string {
	now := s.p.pythons()
	var best py
	for _, p := range s.p.knownPythons() {
		if len(now) == 0 || p == now[0] || best.major != 0 && distance(p, now[0]) >= distance(best, now[0]) {
			continue
		}
		if settled(s.p.with(func(r *Request) { r.Python = p.String() })) != nil {
			best = p
		}
	}
	if best.major == 0 {
		return nil
	}
	return []string{fmt.Sprintf("`--python %s`, for which there are wheels", best)}
}

// settled is what a changed problem installs; nil where it cannot be, or installs
// nothing.
func settled(t *problem) *Choice {
	if t == nil {
		return nil
	}
	return t.chooser().decide().settled()
}

// changed is the problem with other requirements on a package.
func (s frameworks) changed(name string, change func(*pep508.Requirement)) *problem {
	return s.p.with(func(w *Request) {
		for i := range w.Requirements {
			if w.Requirements[i].Name == name {
				change(&w.Requirements[i])
			}
		}
	})
}

// withoutExtras is the problem without a package's extras.
func (s frameworks) withoutExtras(name string) *problem {
	return s.changed(name, func(q *pep508.Requirement) { q.Extras, q.Text = nil, name+q.Spec.String() })
}
