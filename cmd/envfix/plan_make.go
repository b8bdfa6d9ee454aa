package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"envfix/installers"
	"envfix/internal/apply"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/ui"
	"envfix/matrix"
	"envfix/resolver"
)

// make gathers facts and wishes and computes the plan.
func (f planFlags) make(ctx context.Context) (*plan.Plan, error) { return f.mending(ctx, nil, nil) }

// mending is make where doctor knows what must be mended (nil: it does not) and
// adds requirements.
func (f planFlags) mending(ctx context.Context, mend *plan.Repair, more func(*resolver.Request)) (*plan.Plan, error) {
	m, err := matrixFor()
	if err != nil {
		return nil, err
	}
	h, described, err := f.machine.gather(ctx)
	if err != nil {
		return nil, err
	}
	r, err := f.wish.request(described)
	if err != nil {
		return nil, err
	}
	if more != nil {
		more(&r)
	}
	t, err := f.where(h)
	if err != nil {
		return nil, err
	}
	t.Repair = mend
	if r.Policy != nil {
		t.Mirrors = append(t.Mirrors, r.Policy.Mirrors...)
	}
	if p, err := lockedPlan(f, m, wanted{f.withOwnTools(ctx, h), r, t}); p != nil || err != nil {
		if err != nil {
			return nil, err
		}
		p.Basis.Facts = h // the uv that `envfix lock` brought is none of the machine's
		return p, plan.Seal(p)
	}
	r.Companions = heldCompanions(t)
	will := installers.WithDistributionPython(m, f.withOwnTools(ctx, h))
	if f.machine.facts == "" && (f.machine.elsewhere() || !isEnvDir(t.Dir)) {
		will.Installed = nil // another environment's, another machine's or the system's: nothing of it is in this one
	}
	res, err := resolver.Resolve(m, will, r)
	if err != nil {
		return nil, &fail.Error{Code: fail.Usage, Text: ui.Clean(err.Error()), Err: err}
	}
	res.Warnings = append(res.Warnings, f.cautions(m, r, t, res.Choice)...)
	if !described && os.Getenv("ENVFIX_ROOT") == "" { // below a root there is another machine
		if manager, names := installers.DriverPackages(m, h, r, res); manager != "" {
			h.DriverPackages = apply.AskDriverPackages(ctx, manager, names)
		}
	}
	will.DriverPackages = h.DriverPackages
	p, err := installers.Unsealed(m, will, r, res, t)
	if err != nil {
		return nil, &fail.Error{Code: fail.Usage, Text: ui.Clean(err.Error()), Err: err}
	}
	if err := f.checkPackages(ctx, m, p, r); err != nil {
		return nil, err
	}
	p.Basis.Envfix, p.Basis.Facts = buildVersion, h
	p.Basis.Assumed = f.assumed(m, will, r, p)
	return p, plan.Seal(p)
}

// cautions are what the plan warns of beside what the resolver does: what the project
// asks for and the plan does not follow, and data that is old.
func (f planFlags) cautions(m *matrix.Matrix, r resolver.Request, t plan.Target, c *resolver.Choice) []string {
	out := f.wish.warnings(c)
	if w := f.unfollowed(); w != "" && !f.machine.elsewhere() {
		out = append(out, w)
	}
	if w := syncWarning(t); w != "" {
		out = append(out, w)
	}
	if old := matrixAge(m, r.Today); old != "" {
		out = append(out, old)
	}
	return out
}

// assumed is what was not said of a described machine, and is assumed by the plan.
func (f planFlags) assumed(m *matrix.Matrix, will machine.Machine, r resolver.Request, p *plan.Plan) []string {
	h, python := p.Basis.Facts, p.Python
	if p.Then != nil {
		python = p.Then.Python
	}
	out := f.machine.assumed(h, python, f.wish.Python != "")
	if f.machine.words.Driver == "" && h.Driver != nil && h.Driver.Evidence == machine.FromFlag {
		out = append(out, olderDriver(m, will, r, p))
	}
	return out
}

// olderDriver says that the newest driver was assumed, and what an older one would
// change.
func olderDriver(m *matrix.Matrix, h machine.Machine, r resolver.Request, p *plan.Plan) string {
	newest := fmt.Sprintf("driver %s, the newest (--driver)", h.Driver.Version)
	if p.Driver.Minimum == nil || p.Torch == "" {
		return newest
	}
	least, err := machine.ParseDriver(*p.Driver.Minimum)
	if err != nil {
		return newest
	}
	i := slices.IndexFunc(m.Branches, func(b matrix.Branch) bool { // they are sorted, the newest first
		return b.Number < least.Major() && (b.Kind == "PB" || b.Kind == "LTS")
	})
	if i < 0 {
		return newest
	}
	d := *h.Driver
	d.Version = m.Branches[i].Latest
	if windows(h) {
		d.Version = m.Branches[i].LatestWindows
	}
	h.Driver = &d
	older := "nothing runs as it is"
	if res, err := resolver.Resolve(m, h, r); err == nil && res.Choice != nil && res.Decision == resolver.Install {
		older = fmt.Sprintf("torch %s, build %s", res.Choice.Torch, res.Choice.Build)
	} else if err == nil && res.Fallback != nil {
		older = fmt.Sprintf("torch %s, build %s", res.Fallback.Torch, res.Fallback.Build)
	}
	return fmt.Sprintf("%s; before %s (such as %s): %s", newest, least, d.Version, older)
}

// wanted is a machine, what is wished for it, and where it is to be.
type wanted struct {
	machine machine.Machine
	request resolver.Request
	target  plan.Target
}

// withOwnTools is the machine with the programs that the steps run: also the uv
// that an earlier plan put into envfix's own tools, where there is no other. What
// apply carries out here it does with the programs that are here, never with those
// that a facts file names.
func (f planFlags) withOwnTools(ctx context.Context, h machine.Machine) machine.Machine {
	if f.machine.facts != "" {
		if !f.carriesOut {
			return h
		}
		here := thisMachine(ctx, f.machine.env, false)
		h.Tools, h.Pythons = here.Tools, here.Pythons
	}
	if f.machine.elsewhere() && !f.carriesOut { // what is below this home is not there
		return h
	}
	uv := filepath.Join(toolsDir(), "uv", "bin", "uv")
	if slices.ContainsFunc(h.Tools, func(t machine.Tool) bool { return t.Name == "uv" }) {
		return h
	}
	if info, err := os.Stat(uv); err != nil || !info.Mode().IsRegular() {
		return h
	}
	h.Tools = append(slices.Clone(h.Tools), machine.Tool{Name: "uv", Path: uv})
	return h
}
