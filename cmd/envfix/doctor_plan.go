package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/apply"
	"envfix/internal/doctor"
	"envfix/internal/doctor/read"
	"envfix/internal/examine"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/place"
	"envfix/internal/plan"
	"envfix/internal/project"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// withSteps gives the first finding that a plan mends the plan's steps, and
// returns the plan; nil where no plan helps. Its error says why none could be made.
func (f doctorFlags) withSteps(ctx context.Context, r *doctor.Report, patient *read.Case) (*plan.Plan, error) {
	c := doctor.CureOf(r, patient)
	dir := f.examinedElsewhere(patient)
	if c.First < 0 {
		if len(r.Findings) == 0 || r.Findings[0].Elsewhere == "" {
			return nil, nil
		}
		dir = r.Findings[0].Elsewhere
	}
	if dir != "" && !c.Anew {
		return nil, fail.New(fail.Failed, fmt.Sprintf("what is broken is %s, and the plan would be for %s",
			ui.Clean(dir), ui.Clean(f.plan.target.env)),
			fmt.Sprintf("`envfix doctor --fix --env %s`", ui.Clean(dir)))
	}
	p, err := f.mendingPlan(ctx, patient, c)
	if err == nil && refusal(p) == nil && len(p.Steps) == 0 && c.InFiles {
		c.Repair.Rebuild, c.Anew = true, false
		p, err = f.mendingPlan(ctx, patient, c)
	}
	if err != nil || p.Decision == resolver.NeedTarget && c.First >= 0 && r.Findings[c.First].Check == "PY002" { // which says what is planned for
		return nil, err
	}
	if refused := refusal(p); refused != nil {
		return nil, refused
	}
	if f.editProfile {
		if err := examine.EditProfiles(patient, p); err != nil {
			return nil, err
		}
	}
	switch {
	case doctor.DriverFirst(r, p, f.plan.wish.ChangeDriver):
		return nil, fail.New(fail.Failed, "what is wrong is the driver, and without leave it is not touched",
			"`envfix doctor --fix --change-driver` plans it too")
	case len(p.Steps) == 0:
		return nil, nil
	case examine.Activated(p):
		doctor.SayActivate(r, p)
		return nil, nil
	}
	r.Findings[c.First].Steps = p.Steps
	return p, nil
}

// examinedElsewhere is the directory of the environment that was examined, where it is
// not the one that a plan would be for: one that is activated.
func (f doctorFlags) examinedElsewhere(patient *read.Case) string {
	target, err := filepath.Abs(f.plan.target.env)
	if err != nil || patient.Files == nil || patient.Files.Dir == "" || filepath.Clean(patient.Files.Dir) == target {
		return ""
	}
	dir := patient.Files.Dir
	if !place.IsEnv(dir) {
		return "" // a system's Python: an environment of its own is what it needs
	}
	if project, _, ours := strings.Cut(dir, "/.envfix/gens/"); ours { // as `envfix env` activates it
		if to, err := filepath.EvalSymlinks(filepath.Join(project, ".venv")); err == nil && to == dir {
			return filepath.Join(project, ".venv")
		}
	}
	return dir
}

// mendingPlan makes the plan that mends: with the torch that is here, where a build of it
// serves; chosen anew where none does, or where files of the project decide.
func (f doctorFlags) mendingPlan(ctx context.Context, patient *read.Case, c doctor.Cure) (*plan.Plan, error) {
	if e, err := apply.Open(f.plan.target.env); err == nil {
		c.Repair.Replaces = e.Current()
		e.Close()
	}
	torch, build := doctor.InstalledTorch(patient)
	if p, err := f.restoring(ctx, c); p != nil && err == nil {
		return p, nil
	}
	if torch == "" || len(f.plan.wish.Files) > 0 || governing() != "" {
		return f.plan.mending(ctx, c.Repair, nil)
	}
	p, err := f.plan.mending(ctx, c.Repair, doctor.Same(patient, torch, say.If(!c.Anew, build), c.Wants))
	fits := func(q *plan.Plan, err error) bool { return err == nil && refusal(q) == nil && q.Build != "cpu" }
	if c.Anew && !fits(p, err) {
		return f.plan.mending(ctx, c.Repair, nil)
	}
	if err == nil && refusal(p) != nil {
		// That build is refused here: another one of the same torch may not be.
		if q, err := f.plan.mending(ctx, c.Repair, doctor.Same(patient, torch, "", c.Wants)); fits(q, err) {
			return q, nil
		}
	}
	return p, err
}

// restoring is the plan that brings a few packages, or their files again, and leaves all
// else; nil where more is wrong, or something else governs the environment.
func (f doctorFlags) restoring(ctx context.Context, c doctor.Cure) (*plan.Plan, error) {
	dir, _, err := place.Environment(f.plan.target.env)
	c.Repair.Rebuild = c.Repair.Rebuild || f.whole
	if f.whole || !c.Small() || err != nil || governing() != "" || len(f.plan.wish.Files) > 0 || f.plan.target.InPlace ||
		!project.IsFile(filepath.Join(dir, "pyvenv.cfg")) {
		return nil, err
	}
	q, w, err := f.plan.question(ctx)
	if by, _ := managers.Find(q.Request.Manager); err != nil || c.Repair.Frame != "" && by.LeavesPython {
		return nil, err
	}
	here := text.Each(q.Target.Held.Dists, func(d machine.HeldDist) string { return publicly(d.Name + "==" + d.Version) })
	q.Target.Restores = xslices.Filter(c.Again, func(spec string) bool { return slices.Contains(here, publicly(spec)) })
	q.Target.Adds = xslices.Filter(c.Again, func(spec string) bool { return !slices.Contains(here, publicly(spec)) })
	q.Request.Requirements, q.Wish = pep508.Read(q.Target.Adds, "the environment"), f.plan.madeWith()
	again := *c.Repair
	again.Rebuild, q.Target.Repair = false, &again
	return q.Amend(w, nil, false)
}

// publicly is NAME==VERSION without the version's label, which torch's own file says and its
// metadata may not.
func publicly(spec string) string {
	name, v, _ := strings.Cut(spec, "==")
	public, _ := version.SplitLocal(v)
	return name + "==" + public
}
