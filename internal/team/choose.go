package team

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/planning"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"
)

// A draft is one profile before its packages are known.
type draft struct {
	profile   lock.Profile
	job       lock.Job
	defaulted bool // its target names no Python
}

// choose picks a build for each target; with sameTorch, the newest one
// torch that every target can have.
func choose(m *matrix.Matrix, targets []target, wish []pep508.Requirement, sameTorch bool) ([]draft, error) {
	drafts, err := chooseEach(m, targets, wish)
	if err != nil || !sameTorch {
		return drafts, err
	}
	// The common torch is at most the oldest of the single answers. Pinning to it
	// may push another target lower still, so it is tried again; every round is
	// older than the last, so it ends.
	for {
		oldest := slices.MinFunc(drafts, func(a, b draft) int { return version.ComparePublic(a.profile.Torch, b.profile.Torch) })
		public, _ := version.SplitLocal(oldest.profile.Torch)
		if !slices.ContainsFunc(drafts, func(d draft) bool { return version.ComparePublic(d.profile.Torch, public) != 0 }) {
			return drafts, nil
		}
		spec := "torch<=" + public
		pinned, err := chooseEach(m, targets, append(slices.Clone(wish), pep508.Requirement{Name: "torch", Spec: specifier("<=" + public), Text: spec}))
		if err != nil {
			return nil, sameTorchConflict(drafts, public, err)
		}
		drafts = pinned
	}
}

// sameTorchConflict says which torch each target would take alone.
func sameTorchConflict(drafts []draft, public string, err error) error {
	f := &fail.Error{Code: fail.NoSolution, Text: fmt.Sprintf("no torch up to %s fits every target", public), Err: err,
		Hints: []string{"drop `--same-torch`: each kind of machine then gets the newest that it can run"}}
	for _, d := range drafts {
		f.Details = append(f.Details, fmt.Sprintf("%s  alone: torch %s", d.profile.Name, d.profile.Torch))
	}
	f.Details = append(f.Details, err.Error())
	return f
}

func specifier(text string) version.Specifier {
	s, _ := version.ParseSpecifier(text)
	return s
}

func chooseEach(m *matrix.Matrix, targets []target, wish []pep508.Requirement) ([]draft, error) {
	var out []draft
	for _, t := range targets {
		r := t.request
		r.Requirements = wish
		if t.pin != "" {
			r.Requirements = append(slices.Clone(wish), pep508.Requirement{Name: "torch", Spec: specifier(t.pin), Text: "torch" + t.pin})
		}
		r.Described = true
		res, err := planning.Question{Matrix: m, Machine: t.machine, Request: r}.Choose()
		if err != nil {
			return nil, &fail.Error{Code: fail.Usage, Text: fmt.Sprintf("target %s: %v", t.Name, err), Err: err}
		}
		choice, err := lockable(t, res)
		if err != nil {
			return nil, err
		}
		if _, torch := choice.Packages["torch"]; !torch {
			return nil, withoutTorch(wish)
		}
		out = append(out, newDraft(m, t, res, choice, wish))
	}
	return out, nil
}

// withoutTorch refuses a lock of what brings no torch: a lock is made for a torch, with
// whatever is asked for beside it.
func withoutTorch(wish []pep508.Requirement) error {
	texts := text.Each(wish, func(q pep508.Requirement) string { return q.Text })
	f := fail.New(fail.NoSolution, "a lock pins torch and what goes with it, and what is asked for brings no torch")
	f.Hints = append(f.Hints, "`envfix lock torch "+clean(text.Command(texts...))+"` locks both",
		"`envfix plan "+clean(text.Command(texts...))+"` chooses it without torch, and without a lock")
	return f
}

// lockable returns the choice that a target's machines can run once their driver
// is in order, and refuses every other decision with its reasons.
func lockable(t target, res *resolver.Resolution) (*resolver.Choice, error) {
	switch {
	case res.Decision == resolver.Install || res.Decision == resolver.InstallCPU:
		return res.Choice, nil
	case res.Decision == resolver.FixDriver && res.Then != nil:
		return res.Then, nil // a target described without a driver: the floor becomes a condition
	}
	f := fail.New(fail.NoSolution, fmt.Sprintf("target %s (%s): %s", t.Name, clean(t.Facts), strings.ReplaceAll(string(res.Decision), "_", " ")))
	f.Details = text.Each(res.Reasons, func(r resolver.Reason) string { return clean(r.Text) })
	for _, n := range res.Nearest {
		hint := fmt.Sprintf("%s: torch %s %s", clean(n.Change), n.Torch, n.Build) + say.With(" (", clean(n.Note), ")")
		f.Hints = append(f.Hints, hint)
	}
	return nil, f
}

// newDraft is the profile that a choice makes of a target, and the job of uv.
func newDraft(m *matrix.Matrix, t target, res *resolver.Resolution, c *resolver.Choice, wish []pep508.Requirement) draft {
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
	j := jobOf(c, wish, t.request.Channel)
	p.Indexes = j.Indexes
	if size, measured := m.Size(c.Torch, c.Build, p.Match.OS, p.Match.Arch); measured {
		p.Size.Installed = int64(size.DiskMB) * 1e6
	}
	return draft{p, j, !t.named}
}

// jobOf is what uv is asked for a choice and what was wished for beside it.
func jobOf(c *resolver.Choice, wish []pep508.Requirement, channel string) lock.Job {
	j := lock.Job{Python: strings.TrimSuffix(c.Python, "t")}
	_, torchLabel := version.SplitLocal(c.Packages["torch"])
	for _, name := range slices.Sorted(maps.Keys(c.Packages)) {
		v := c.Packages[name]
		public, label := version.SplitLocal(v)
		family := name == "torch" || slices.Contains(resolver.Companions(), name)
		switch {
		case v == "":
			continue
		case c.URLs[name] != "":
			j.Requirements = append(j.Requirements, name+" @ "+c.URLs[name])
			continue
		case c.Index == nil:
			v = public
		case family && (label != "" || torchLabel == ""): // what has no label there only the default index has
			j.Indexes = append(j.Indexes, lock.Index{Package: name, URL: *c.Index})
		}
		j.Requirements = append(j.Requirements, name+"=="+v)
	}
	var open []string
	if channel != "" {
		open = fromChannel(&j, c)
	}
	for _, q := range wish {
		asked := cmp.Or(c.Ask[q.Name], q.Text) // jax[cuda13] in place of jax, which computes on the CPU
		if v, chosen := c.Packages[q.Name]; (!chosen || v == "") && !slices.Contains(open, q.Name) {
			j.Requirements = append(j.Requirements, asked)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Ask)) { // a framework that what was asked for brings
		if !slices.ContainsFunc(wish, func(q pep508.Requirement) bool { return q.Name == name }) {
			j.Requirements = append(j.Requirements, c.Ask[name])
		}
	}
	j.Requirements = append(j.Requirements, c.Holds...)
	return j
}

// anyDay admits every build of a channel: all of them are pre-releases.
const anyDay = ">=0.dev0"

// fromChannel ties what the choice leaves open to its own index, of which uv takes the
// newest day and the lock pins it: torch, its companions, and triton, which torch's
// wheel pins there to a commit that no other index has.
// It returns their names.
func fromChannel(j *lock.Job, c *resolver.Choice) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c.Packages)) {
		if c.Packages[name] == "" && (name == "torch" || slices.Contains(resolver.Companions(), name)) {
			names = append(names, name)
			j.Requirements = append(j.Requirements, name+anyDay)
		}
	}
	if c.CUDA != "" {
		names = append(names, "triton")
		j.Requirements = append(j.Requirements, "triton")
	}
	j.Indexes = append(j.Indexes, text.Each(names, func(name string) lock.Index { return lock.Index{Package: name, URL: *c.Index} })...)
	return names
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
	amd := xslices.Filter(h.GPUs, func(g machine.GPU) bool { return g.Vendor == machine.AMD })
	m.SMs = slices.Sorted(slices.Values(xslices.Once(text.Each(h.NVIDIA(), machine.SM.String))))
	m.GFX = slices.Sorted(slices.Values(xslices.Once(text.Each(amd, func(g machine.GPU) string { return g.GFX }))))
	if m.GPU == machine.NVIDIA && !res.Driver.Minimum.IsZero() {
		m.Driver = ">=" + res.Driver.Minimum.String()
	}
	return m
}

// distinct refuses targets that describe the same machines and the same Python: one of
// them would never be installed.
func distinct(drafts []draft) error {
	for i, a := range drafts {
		for _, b := range drafts[i+1:] {
			p, q := a.profile, b.profile
			if reflect.DeepEqual(p.Match, q.Match) && p.Python == q.Python && p.Build == q.Build {
				return fail.Wrong(fmt.Sprintf("%s and %s describe the same machines", p.Name, q.Name),
					"tell them apart by gpu, driver, os, arch, libc or python, or drop one")
			}
		}
	}
	return nil
}
