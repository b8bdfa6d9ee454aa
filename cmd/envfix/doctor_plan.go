package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/apply"
	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/project"
	"envfix/internal/system"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// withSteps gives the first finding that a plan mends the plan's steps, and
// returns the plan; nil where no plan helps. Its error says why none could be made.
func (f doctorFlags) withSteps(ctx context.Context, r *doctor.Report, patient *read.Case) (*plan.Plan, error) {
	c := cureOf(r, patient)
	dir := f.examinedElsewhere(patient)
	if c.first < 0 {
		if len(r.Findings) == 0 || r.Findings[0].Elsewhere == "" {
			return nil, nil
		}
		dir = r.Findings[0].Elsewhere
	}
	if dir != "" && !c.anew {
		return nil, fail.New(fail.Failed, fmt.Sprintf("what is broken is %s, and the plan would be for %s",
			ui.Clean(dir), ui.Clean(f.plan.target.env)),
			fmt.Sprintf("`envfix doctor --fix --env %s`", ui.Clean(dir)))
	}
	p, err := f.mendingPlan(ctx, patient, c)
	if err == nil && refusal(p) == nil && len(p.Steps) == 0 && c.inFiles {
		c.repair.Rebuild, c.anew = true, false
		p, err = f.mendingPlan(ctx, patient, c)
	}
	if err != nil {
		return nil, err
	}
	if refused := refusal(p); refused != nil {
		return nil, refused
	}
	if f.editProfile {
		if err := editProfiles(patient, p); err != nil {
			return nil, err
		}
	}
	switch {
	case f.driverFirst(r, p):
		return nil, fail.New(fail.Failed, "what is wrong is the driver, and without leave it is not touched",
			"`envfix doctor --fix --change-driver` plans it too")
	case len(p.Steps) == 0:
		return nil, nil
	case activated(p):
		sayActivate(r, p)
		return nil, nil
	}
	r.Findings[c.first].Steps = p.Steps
	return p, nil
}

// driverFirst reports whether a plan would change the driver, unasked, and the findings
// do not name that as the fault, or it does nothing else.
func (f doctorFlags) driverFirst(r *doctor.Report, p *plan.Plan) bool {
	named := slices.ContainsFunc(r.Findings, func(x doctor.Finding) bool { return x.Severity == know.Error && strings.HasPrefix(x.Cause, "driver_") })
	return (len(p.Steps) == 0 || !named) && !slices.Contains([]string{"", "keep", "none"}, string(p.Driver.Action)) && !f.plan.wish.ChangeDriver
}

// sayActivate has the findings about variables advise the script that sets them.
func sayActivate(r *doctor.Report, p *plan.Plan) {
	for i := range r.Findings {
		if x := &r.Findings[i]; len(x.Mend.Fixes) > 0 {
			x.Fix = append([]string{"`. " + text.Command(p.Target.Dir+"/bin/activate") + "` in this shell: the script sets it right already"}, x.Fix...)
		}
	}
}

// A cure is what a plan is to do about what was found.
type cure struct {
	first   int // of the findings that it mends; -1 none
	repair  *plan.Repair
	wants   []string // what the remedies that were printed install beside the torch that is here
	again   []string // all that is wrong is that these, NAME==VERSION, are not whole
	anew    bool     // torch itself is not the right one
	inFiles bool     // what is wrong with it is in its files
}

// cureOf gathers what a plan mends of the findings, by the smallest change that does.
func cureOf(r *doctor.Report, patient *read.Case) cure {
	k := know.Embedded()
	c := cure{first: -1, repair: &plan.Repair{}}
	torch, _ := installedTorch(patient)
	whole := true
	for i, x := range r.Findings {
		w := doctor.WayOf(k, x, r.Findings)
		wants := beside(x, torch)
		if x.Elsewhere != "" || w == doctor.NoWay && (wants == nil || x.Severity < know.Error) {
			continue
		}
		if c.first < 0 {
			c.first = i
		}
		if w != doctor.AsItIs {
			c.anew = c.anew || wants == nil
			c.inFiles = c.inFiles || wants == nil && k.Causes[x.Cause].Mended == know.Files
			c.repair.Rebuild = c.repair.Rebuild || wants != nil
		}
		c.again, whole = xslices.Once(c.again, x.Mend.Again), whole && x.Mend.Again != nil
		c.wants = append(c.wants, wants...)
		c.repair.Rebuild = c.repair.Rebuild || x.Mend.Rebuild
		c.repair.Fetch = append(c.repair.Fetch, x.Mend.Fetch...)
		c.repair.Fixes = append(c.repair.Fixes, x.Mend.Fixes...)
	}
	if !whole || len(c.repair.Fixes) > 0 {
		c.again = nil
	}
	return c
}

// beside are the requirements of a finding's remedy without the torch that is here and
// stays; nil where it installs another torch or this one anew, or nothing.
func beside(x doctor.Finding, torch string) []string {
	var out []string
	for _, s := range x.Installs() {
		q, err := pep508.Parse(s, "")
		v, _ := version.SplitLocal(strings.TrimPrefix(q.Spec.String(), "=="))
		switch {
		case err != nil || torch == "" || q.Name == "torch" && (v != torch || strings.Contains(x.Fix[0], "--reinstall") || strings.Contains(x.Fix[0], "--force-reinstall")):
			return nil
		case q.Name != "torch":
			out = append(out, s)
		}
	}
	return out
}

// examinedElsewhere is the directory of the environment that was examined, where it is
// not the one that a plan would be for: one that is activated.
func (f doctorFlags) examinedElsewhere(patient *read.Case) string {
	target, err := filepath.Abs(f.plan.target.env)
	if err != nil || patient.Files == nil || patient.Files.Dir == "" || filepath.Clean(patient.Files.Dir) == target {
		return ""
	}
	dir := patient.Files.Dir
	if !isEnvDir(dir) {
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
func (f doctorFlags) mendingPlan(ctx context.Context, patient *read.Case, c cure) (*plan.Plan, error) {
	if e, err := apply.Open(f.plan.target.env); err == nil {
		c.repair.Replaces = e.Current()
		e.Close()
	}
	torch, build := installedTorch(patient)
	if p, err := f.restoring(ctx, c); p != nil && err == nil {
		return p, nil
	}
	if torch == "" || len(f.plan.wish.Files) > 0 || governing() != "" {
		return f.plan.mending(ctx, c.repair, nil)
	}
	if c.anew {
		build = ""
	}
	p, err := f.plan.mending(ctx, c.repair, same(patient, torch, build, c.wants))
	if err == nil && p.Decision == resolver.NeedTarget && !c.anew {
		if q, err := f.withoutItsGPU(ctx, c.repair, patient); q != nil || err != nil {
			return q, err
		}
	}
	fits := func(q *plan.Plan, err error) bool { return err == nil && refusal(q) == nil && q.Build != "cpu" }
	if c.anew && !fits(p, err) {
		return f.plan.mending(ctx, c.repair, nil)
	}
	if err == nil && refusal(p) != nil {
		// That build is refused here: another one of the same torch may not be.
		if q, err := f.plan.mending(ctx, c.repair, same(patient, torch, "", c.wants)); fits(q, err) {
			return q, nil
		}
	}
	return p, err
}

// restoring is the plan that brings again the files of packages that are not whole, and
// leaves all else; nil where more is wrong, or something else governs the environment.
func (f doctorFlags) restoring(ctx context.Context, c cure) (*plan.Plan, error) {
	dir, _, err := environment(f.plan.target.env)
	if len(c.again) == 0 || err != nil || governing() != "" || len(f.plan.wish.Files) > 0 || f.plan.target.InPlace || !project.IsFile(filepath.Join(dir, "pyvenv.cfg")) {
		return nil, err
	}
	q, w, err := f.plan.question(ctx)
	if err != nil {
		return nil, err
	}
	q.Target.Restores, q.Wish = c.again, f.plan.madeWith()
	q.Target.Repair = &plan.Repair{Replaces: c.repair.Replaces, Fetch: c.repair.Fetch}
	return q.Amend(w, nil, false)
}

// withoutItsGPU is the plan that brings the files of a CUDA build again where no GPU is
// to be seen, as on a login node: that the build is the right one was decided when it was
// installed. It is made as for a GPU that the build serves with the least to warn of; nil
// where there is none.
func (f doctorFlags) withoutItsGPU(ctx context.Context, mend *plan.Repair, patient *read.Case) (*plan.Plan, error) {
	m := matrixFor()
	torch, label := installedTorch(patient)
	here := patient.Machine.Platform
	release, _ := m.Release(torch)
	if release == nil || len(f.plan.machine.words.GPUs) > 0 {
		return nil, nil
	}
	build, _ := release.Build(label, here.OS, here.Arch)
	if build == nil {
		return nil, nil
	}
	var best *plan.Plan
	for _, code := range build.Native {
		driver := m.NewestDriver([]machine.SM{code.SM}, patient.Machine.WindowsDriver())
		if driver.IsZero() {
			continue
		}
		g := f.plan
		g.machine.words.GPUs, g.machine.words.Driver = []string{code.SM.String()}, driver.String()
		p, err := g.mending(ctx, mend, same(patient, torch, label, nil))
		if err == nil && refusal(p) == nil && (best == nil || len(p.Warnings) < len(best.Warnings)) {
			best = p
		}
	}
	if best == nil {
		return nil, nil
	}
	best.Warnings = append(best.Warnings, fmt.Sprintf("no GPU is to be seen here: the build of torch that is in %s, %s, comes again, planned as for a GPU of compute capability %s",
		f.plan.target.env, label, best.Basis.Facts.GPUs[0].SM))
	return best, plan.Seal(best)
}

// same asks for the packages of the environment: its torch in that version and build, and
// those of torch's companions that are there; and for what is wanted beside it.
func same(patient *read.Case, torch, build string, wants []string) func(*resolver.Request) {
	return func(r *resolver.Request) {
		beside := xslices.Filter([]string{"torchvision", "torchaudio"}, func(name string) bool {
			return slices.ContainsFunc(patient.Files.Dists, func(d machine.DistFiles) bool { return d.Name == name })
		})
		for _, w := range slices.Concat([]string{"torch==" + torch}, beside, wants) {
			if q, err := pep508.Parse(w, "the environment"); err == nil {
				r.Requirements = append(r.Requirements, q)
			}
		}
		if r.Build == "" && !r.CPU && r.CUDA == "" {
			r.Build = build
		}
	}
}

// installedTorch is the torch whose files are in the environment: what
// torch/version.py says, else the metadata. Metadata of which there are two
// copies is believed where the file agrees. Of half an upgrade it is the one before.
func installedTorch(patient *read.Case) (v, build string) {
	if patient.Files == nil {
		return "", ""
	}
	for _, d := range patient.Files.Dists {
		ours := slices.ContainsFunc(patient.Files.Sites,
			func(s string) bool { return strings.HasPrefix(d.Info, s+"/") })
		if d.Name != "torch" || !ours {
			continue
		}
		text := cmp.Or(d.Module, d.Version)
		if v == "" || d.Module != "" {
			v, build = version.SplitLocal(text)
		}
	}
	for _, l := range patient.Files.Leftovers { // of an upgrade that broke off
		if old, ok := strings.CutPrefix(filepath.Base(l), "~orch-"); ok && v == "" {
			v, build = version.SplitLocal(strings.TrimSuffix(old, ".dist-info"))
		}
	}
	if v == "" {
		v, build = version.SplitLocal(patient.Files.Bare)
	}
	return v, build
}

// activated reports whether all that a plan does is in the activate script
// already: then it is the shell that does not use it.
func activated(p *plan.Plan) bool {
	return !slices.ContainsFunc(p.Steps, func(s plan.Step) bool {
		if s.Block == nil {
			return true
		}
		text, err := system.ReadFile(strings.ReplaceAll(s.Block.Path, "{gen}", p.Target.Dir), 1<<20)
		return err != nil || slices.ContainsFunc(s.Block.Lines, func(l string) bool { return !strings.Contains(string(text), l+"\n") })
	})
}
