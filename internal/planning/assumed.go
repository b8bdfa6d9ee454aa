package planning

import (
	"fmt"
	"slices"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/matrix"
	"envfix/resolver"
)

// assumed says what a plan for a machine that flags describe takes from this one, and
// with which flag to say otherwise; nil where flags say it, or a file of facts.
func (q Question) assumed(p *plan.Plan, facts machine.Machine) []string {
	if q.Words.Whole || !q.Words.Says() {
		return nil
	}
	var out []string
	if l := facts.Platform.Libc; l != nil && q.Words.Libc == "" && !l.Version.IsZero() {
		out = append(out, l.Kind+" "+l.Version.String()+" (--libc)")
	}
	python := p.Python
	if p.Then != nil {
		python = p.Then.Python
	}
	if python != "" && q.Request.Python == "" {
		out = append(out, "Python "+python+" (--python)")
	}
	out = append(out, q.Words.Usual()...)
	nvidia := slices.ContainsFunc(facts.GPUs, func(g machine.GPU) bool { return g.Vendor == machine.NVIDIA })
	switch d := facts.Driver; {
	case q.Words.Driver != "":
	case d != nil && d.Evidence == machine.FromFlag:
		out = append(out, q.olderDriver(p, *d))
	case !nvidia:
	case d != nil:
		out = append(out, "driver "+d.Version.String()+" (--driver)")
	default:
		out = append(out, "no driver (--driver)")
	}
	return out
}

// olderDriver says that the newest driver was assumed, and what an older one would
// change.
func (q Question) olderDriver(p *plan.Plan, d machine.Driver) string {
	newest := fmt.Sprintf("driver %s, the newest (--driver)", d.Version)
	if p.Driver.Minimum == nil || p.Torch == "" {
		return newest
	}
	least, err := machine.ParseDriver(*p.Driver.Minimum)
	if err != nil {
		return newest
	}
	i := slices.IndexFunc(q.Matrix.Branches, func(b matrix.Branch) bool { // they are sorted, the newest first
		return b.Number < least.Major() && (b.Kind == "PB" || b.Kind == "LTS")
	})
	if i < 0 {
		return newest
	}
	pl := q.Machine.Platform
	d.Version = q.Matrix.Branches[i].Newest(pl.OS == "windows" || pl.Environment == machine.WSL2)
	q.Machine.Driver = &d
	older := "nothing runs as it is"
	if res, err := q.Choose(); err == nil && res.Choice != nil && res.Decision == resolver.Install {
		older = fmt.Sprintf("torch %s, build %s", res.Choice.Torch, res.Choice.Build)
	} else if err == nil && res.Fallback != nil {
		older = fmt.Sprintf("torch %s, build %s", res.Fallback.Torch, res.Fallback.Build)
	}
	return fmt.Sprintf("%s; before %s (such as %s): %s", newest, least, d.Version, older)
}
