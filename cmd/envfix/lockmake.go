package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/ui"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"
)

// A lockDraft is one profile before its packages are known.
type lockDraft struct {
	profile lock.Profile
	job     lock.Job
}

// resolveTargets chooses a build for each target; with sameTorch, the newest one
// torch that every target can have.
func resolveTargets(m *matrix.Matrix, targets []lockTarget, wish []pep508.Requirement, sameTorch bool) ([]lockDraft, error) {
	drafts, err := resolveEach(m, targets, wish)
	if err != nil || !sameTorch {
		return drafts, err
	}
	// The common torch is at most the oldest of the single answers. Pinning to it
	// may push another target lower still, so it is tried again; every round is
	// older than the last, so it ends.
	for {
		oldest := slices.MinFunc(drafts, func(a, b lockDraft) int { return comparePublic(a.profile.Torch, b.profile.Torch) })
		public, _ := version.SplitLocal(oldest.profile.Torch)
		if !slices.ContainsFunc(drafts, func(d lockDraft) bool { return comparePublic(d.profile.Torch, public) != 0 }) {
			return drafts, nil
		}
		spec := "torch<=" + public
		pinned, err := resolveEach(m, targets, append(slices.Clone(wish), pep508.Requirement{Name: "torch", Spec: specifier("<=" + public), Text: spec}))
		if err != nil {
			return nil, sameTorchConflict(drafts, public, err)
		}
		drafts = pinned
	}
}

// sameTorchConflict says which torch each target would take alone.
func sameTorchConflict(drafts []lockDraft, public string, err error) error {
	f := &failure{code: exitNoSolution, text: fmt.Sprintf("no torch up to %s fits every target", public), err: err,
		hints: []string{"drop `--same-torch`: each kind of machine then gets the newest that it can run"}}
	for _, d := range drafts {
		f.details = append(f.details, fmt.Sprintf("%s  alone: torch %s", d.profile.Name, d.profile.Torch))
	}
	f.details = append(f.details, err.Error())
	return f
}

func comparePublic(a, b string) int {
	x, _ := version.SplitLocal(a)
	y, _ := version.SplitLocal(b)
	v, _ := version.ParsePython(x)
	w, _ := version.ParsePython(y)
	return v.Compare(w)
}

func specifier(text string) version.Specifier {
	s, _ := version.ParseSpecifier(text)
	return s
}

func resolveEach(m *matrix.Matrix, targets []lockTarget, wish []pep508.Requirement) ([]lockDraft, error) {
	var out []lockDraft
	for _, t := range targets {
		r := t.request
		r.Requirements = wish
		if t.pin != "" {
			r.Requirements = append(slices.Clone(wish), pep508.Requirement{Name: "torch", Spec: specifier(t.pin), Text: "torch" + t.pin})
		}
		r.Described = true
		res, err := resolver.Resolve(m, t.machine, r)
		if err != nil {
			return nil, &failure{code: exitUsage, text: fmt.Sprintf("target %s: %v", t.Name, err), err: err}
		}
		choice, err := lockable(t, res)
		if err != nil {
			return nil, err
		}
		out = append(out, draft(m, t, res, choice, wish))
	}
	return out, nil
}

// lockable returns the choice that a target's machines can run once their driver
// is in order, and refuses every other decision with its reasons.
func lockable(t lockTarget, res *resolver.Resolution) (*resolver.Choice, error) {
	switch {
	case res.Decision == resolver.Install || res.Decision == resolver.InstallCPU:
		return res.Choice, nil
	case res.Decision == resolver.FixDriver && res.Then != nil:
		return res.Then, nil // a target described without a driver: the floor becomes a condition
	}
	f := &failure{code: exitNoSolution, text: fmt.Sprintf("target %s (%s): %s", t.Name, ui.Clean(t.Facts), strings.ReplaceAll(string(res.Decision), "_", " "))}
	for _, r := range res.Reasons {
		f.details = append(f.details, ui.Clean(r.Text))
	}
	for _, n := range res.Nearest {
		f.hints = append(f.hints, fmt.Sprintf("%s: torch %s %s", ui.Clean(n.Change), n.Torch, n.Build))
	}
	return nil, f
}

func draft(m *matrix.Matrix, t lockTarget, res *resolver.Resolution, c *resolver.Choice, wish []pep508.Requirement) lockDraft {
	p := lock.Profile{
		Name: t.Name, Torch: c.Packages["torch"], Build: c.Build, CUDA: c.CUDA, CuDNN: c.CuDNN, Python: c.Python, Arches: c.Arches,
		Match:  matchOf(t.machine, res),
		Driver: lock.Driver{Policy: "none"},
		Pylock: lock.Pylock{File: lock.PylockName(t.Name)},
		Verify: []string{"torch imports", "torch computes"},
	}
	if c.CUDA != "" {
		p.Driver = lock.Driver{Policy: "check-only", Branch: res.Driver.Branch}
		p.Verify = append(p.Verify, "torch.version.cuda == "+c.CUDA)
	}
	j := lock.Job{Python: strings.TrimSuffix(c.Python, "t")}
	for _, name := range slices.Sorted(maps.Keys(c.Packages)) {
		v := c.Packages[name]
		if v == "" {
			continue
		}
		public, _ := version.SplitLocal(v)
		if c.Index == nil {
			v = public
		} else {
			j.Indexes = append(j.Indexes, lock.Index{Package: name, URL: *c.Index})
		}
		j.Requirements = append(j.Requirements, name+"=="+v)
	}
	for _, q := range wish {
		if _, chosen := c.Packages[q.Name]; !chosen || c.Packages[q.Name] == "" {
			j.Requirements = append(j.Requirements, q.Text)
		}
	}
	p.Indexes = j.Indexes
	if size, measured := m.Size(c.Torch, c.Build, p.Match.OS, p.Match.Arch); measured {
		p.Size.Installed = int64(size.DiskMB) * 1e6
	}
	return lockDraft{p, j}
}

// matchOf turns a described machine into the conditions that a machine must meet.
// The libc is a bound of the description; wheels may ask for less.
func matchOf(h machine.Machine, res *resolver.Resolution) lock.Match {
	m := lock.Match{OS: h.Platform.OS, Arch: h.Platform.Arch, GPU: lock.GPUKind(h)}
	if h.Platform.Environment == machine.WSL2 {
		m.Environment = machine.WSL2
	}
	if l := h.Platform.Libc; l != nil {
		m.Libc = l.Kind + ">=" + l.Version.String()
	}
	for _, g := range h.GPUs {
		switch g.Vendor {
		case machine.NVIDIA:
			m.SMs = append(m.SMs, g.SM.String())
		case machine.AMD:
			m.GFX = append(m.GFX, g.GFX)
		}
	}
	slices.Sort(m.SMs)
	slices.Sort(m.GFX)
	m.SMs, m.GFX = slices.Compact(m.SMs), slices.Compact(m.GFX)
	if m.GPU == machine.NVIDIA && !res.Driver.Minimum.IsZero() {
		m.Driver = ">=" + res.Driver.Minimum.String()
	}
	return m
}

// distinct refuses targets that one machine could match both of.
func distinct(drafts []lockDraft) error {
	for i, a := range drafts {
		for _, b := range drafts[i+1:] {
			if a.profile.Match.Overlap(b.profile.Match) {
				return &failure{code: exitUsage, text: fmt.Sprintf("a machine could match both %s and %s", a.profile.Name, b.profile.Name),
					hints: []string{"tell them apart by gpu, os, arch or libc, or make one target of them: gpu=A,B"}}
			}
		}
	}
	return nil
}

// atATime is how many times uv runs at once: it mostly waits for the index.
const atATime = 3

// compileAll resolves the packages of every draft with uv, and fills in digests,
// sizes and hosts. It returns the pylock bytes by profile name.
func compileAll(ctx context.Context, m *matrix.Matrix, u uvTool, drafts []lockDraft) (map[string][]byte, error) {
	facts := newFileFacts(m, u.mirrored)
	texts := make([][]byte, len(drafts))
	err := inParallel(len(drafts), atATime, func(i int) (err error) {
		if texts[i], err = compileOne(ctx, u, &drafts[i], facts); err != nil {
			err = inTarget(drafts[i].profile.Name, err)
		}
		return err
	})
	out := map[string][]byte{}
	for i, d := range drafts {
		out[d.profile.Name] = texts[i]
	}
	return out, err
}

// inTarget says which target an error is about.
func inTarget(name string, err error) error {
	var f *failure
	if errors.As(err, &f) {
		g := *f
		g.text = "target " + name + ": " + f.text
		return &g
	}
	return fmt.Errorf("target %s: %w", name, err)
}

func compileOne(ctx context.Context, u uvTool, d *lockDraft, facts *fileFacts) ([]byte, error) {
	platform, err := lock.UVPlatform(d.profile.Match)
	if err != nil {
		return nil, &failure{code: exitNoSolution, text: err.Error(), err: err}
	}
	d.job.Platform = platform
	text, err := u.compile(ctx, d.job, d.profile.Pylock.File)
	if err != nil {
		return nil, err
	}
	packages, err := lock.ParseUV(text, d.job.Indexes)
	if err != nil {
		return nil, &failure{code: exitNoSolution, text: ui.Clean(err.Error()), err: err,
			hints: []string{"envfix locks wheels only; pin a version that has one for this target"}}
	}
	u.canonical(packages)
	if err := facts.complete(ctx, packages); err != nil {
		return nil, err
	}
	doc := lock.Packages{LockVersion: "1.0", CreatedBy: "envfix", RequiresPython: "==" + d.job.Python + ".*",
		Environments: []string{lock.Markers(d.profile.Match, d.job.Python)}, Packages: packages}
	b, err := doc.Encode()
	if err != nil {
		return nil, err
	}
	p := &d.profile
	p.Torch = doc.Find("torch").Version
	p.Pylock.SHA256, p.Hosts, p.Size.Download = lock.Sum(b), doc.Hosts(), doc.Download()
	return b, nil
}
