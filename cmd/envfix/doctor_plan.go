package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	"envfix/internal/system"
	"envfix/internal/ui"
	"envfix/internal/version"
	"envfix/resolver"
)

// withSteps gives the first finding that a plan mends the plan's steps, and
// returns the plan; nil where no plan helps. Its error says why none could be made.
func (f doctorFlags) withSteps(ctx context.Context, r *doctor.Report, patient *read.Case) (*plan.Plan, error) {
	first, anew, inFiles, mend := mendable(r)
	if first < 0 {
		return nil, nil
	}
	if dir := f.examinedElsewhere(patient); dir != "" && !anew {
		return nil, &fail.Error{Code: fail.Failed, Text: fmt.Sprintf("what is broken is %s, and the plan would be for %s",
			ui.Clean(dir), ui.Clean(f.plan.target.env)),
			Hints: []string{fmt.Sprintf("`envfix doctor --fix --env %s`", ui.Clean(dir))}}
	}
	p, err := f.mendingPlan(ctx, patient, mend, anew)
	if err == nil && refusal(p) == nil && len(p.Steps) == 0 && inFiles {
		mend.Rebuild = true
		p, err = f.mendingPlan(ctx, patient, mend, false)
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
	if len(p.Steps) == 0 && p.Driver.Action != "keep" && p.Driver.Action != "none" && !f.plan.wish.ChangeDriver {
		return nil, &fail.Error{
			Code: fail.Failed, Text: "what is wrong is the driver, and without leave it is not touched",
			Hints: []string{"`envfix doctor --fix --change-driver` plans it too"},
		}
	}
	if len(p.Steps) == 0 {
		return nil, nil
	}
	if activated(p) {
		for i := range r.Findings {
			if x := &r.Findings[i]; len(x.Mend.Fixes) > 0 {
				x.Fix = append([]string{"`. " + activateScript(p) + "` in this shell: the script sets it right already"},
					x.Fix...)
			}
		}
		return nil, nil
	}
	r.Findings[first].Steps = p.Steps
	return p, nil
}

// mendable gathers what a plan mends of the findings: the first of them (-1 none),
// whether one is mended by another choice than what is there, and by its files.
func mendable(r *doctor.Report) (first int, anew, inFiles bool, mend *plan.Repair) {
	k := know.Embedded()
	first, mend = -1, &plan.Repair{}
	for i, x := range r.Findings {
		w := doctor.WayOf(k, x, r.Findings)
		if w == doctor.NoWay {
			continue
		}
		if first < 0 {
			first = i
		}
		anew = anew || w == doctor.Otherwise
		inFiles = inFiles || w == doctor.Otherwise && k.Causes[x.Cause].Mended == know.Files
		mend.Rebuild = mend.Rebuild || x.Mend.Rebuild
		mend.Fetch = append(mend.Fetch, x.Mend.Fetch...)
		mend.Fixes = append(mend.Fixes, x.Mend.Fixes...)
	}
	return first, anew, inFiles, mend
}

// examinedElsewhere is the directory of the environment that was examined, where it is
// not the one that a plan would be for: one that is activated.
func (f doctorFlags) examinedElsewhere(patient *read.Case) string {
	target, err := filepath.Abs(f.plan.target.env)
	if err != nil || patient.Files == nil || patient.Files.Dir == "" || filepath.Clean(patient.Files.Dir) == target {
		return ""
	}
	dir := patient.Files.Dir
	if _, err := os.Stat(filepath.Join(dir, "pyvenv.cfg")); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(dir, "conda-meta")); errors.Is(err, fs.ErrNotExist) {
			return "" // a system's Python: an environment of its own is what it needs
		}
	}
	if project, _, ours := strings.Cut(dir, "/.envfix/gens/"); ours { // as `envfix env` activates it
		if to, err := filepath.EvalSymlinks(filepath.Join(project, ".venv")); err == nil && to == dir {
			return filepath.Join(project, ".venv")
		}
	}
	return dir
}

// mendingPlan makes the plan that mends: with the same torch where its files are
// broken, chosen anew where it is the wrong one.
func (f doctorFlags) mendingPlan(ctx context.Context, patient *read.Case, mend *plan.Repair, anew bool) (*plan.Plan, error) {
	if e, err := apply.Open(f.plan.target.env); err == nil {
		mend.Replaces = e.Current()
		e.Close()
	}
	torch, build := installedTorch(patient)
	if anew || torch == "" || len(f.plan.wish.files) > 0 || governing() != "" {
		return f.plan.mending(ctx, mend, nil)
	}
	p, err := f.plan.mending(ctx, mend, same(patient, torch, build))
	if err == nil && p.Decision == resolver.NeedTarget {
		if q, err := f.withoutItsGPU(ctx, mend, patient); q != nil || err != nil {
			return q, err
		}
	}
	if err == nil && refusal(p) != nil {
		// That build is refused here: another one of the same torch may not be.
		if q, err := f.plan.mending(ctx, mend, same(patient, torch, "")); err == nil && refusal(q) == nil &&
			q.Build != "cpu" {
			return q, nil
		}
	}
	return p, err
}

// withoutItsGPU is the plan that brings the files of a CUDA build again where no GPU is
// to be seen, as on a login node: that the build is the right one was decided when it was
// installed. It is made as for a GPU that the build serves with the least to warn of; nil
// where there is none.
func (f doctorFlags) withoutItsGPU(ctx context.Context, mend *plan.Repair, patient *read.Case) (*plan.Plan, error) {
	m, err := matrixFor()
	if err != nil {
		return nil, err
	}
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
		driver := m.NewestDriver([]machine.SM{code.SM}, here.OS == "windows" || here.Environment == machine.WSL2)
		if driver.IsZero() {
			continue
		}
		g := f.plan
		g.machine.words.GPUs, g.machine.words.Driver = []string{code.SM.String()}, driver.String()
		p, err := g.mending(ctx, mend, same(patient, torch, label))
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

// same asks for the packages of the environment: its torch in that version and
// build, and those of torch's companions that are there.
func same(patient *read.Case, torch, build string) func(*resolver.Request) {
	return func(r *resolver.Request) {
		words := []string{"torch==" + torch}
		for _, name := range []string{"torchvision", "torchaudio"} {
			if slices.ContainsFunc(patient.Files.Dists, func(d machine.DistFiles) bool { return d.Name == name }) {
				words = append(words, name)
			}
		}
		for _, w := range words {
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
// copies is believed where the file agrees.
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
		text := d.Version
		if d.Module != "" {
			text = d.Module
		}
		if v == "" || d.Module != "" {
			v, build = version.SplitLocal(text)
		}
	}
	return v, build
}

// activated reports whether all that a plan does is in the activate script
// already: then it is the shell that does not use it.
func activated(p *plan.Plan) bool {
	for _, s := range p.Steps {
		if s.Block == nil {
			return false
		}
		text, err := system.ReadFile(strings.ReplaceAll(s.Block.Path, "{gen}", p.Target.Dir), 1<<20)
		if err != nil {
			return false
		}
		for _, l := range s.Block.Lines {
			if !strings.Contains(string(text), l+"\n") {
				return false
			}
		}
	}
	return true
}
