package installers

import (
	"fmt"
	"slices"

	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"
)

// A LockedProfile is one profile of a team's lock with its packages.
type LockedProfile struct {
	Profile  *lock.Profile
	Packages *lock.Packages
	Bundle   string // the folder of a bundle that the files lie in; "" they are fetched
}

// Locked returns the sealed plan that installs a profile: exactly its files, by
// hash, wheels only, without a resolution. It chooses nothing.
func Locked(m *matrix.Matrix, h machine.Machine, r resolver.Request, l LockedProfile, t plan.Target) (*plan.Plan, error) {
	res := &resolver.Resolution{Decision: resolver.Install, Choice: l.choice(), Driver: resolver.DriverChoice{Action: "keep"}}
	if l.Profile.Build == "cpu" {
		res.Decision = resolver.InstallCPU
	}
	res.Reasons = []resolver.Reason{{Rule: "lock", Text: fmt.Sprintf("profile %s of %s: %s", l.Profile.Name, lock.File, l.Profile.Match.Text()), Source: lock.File}}
	p := describe(m, h, r, res)
	if t.Manager == "" && r.Manager == "pip" {
		t.Manager = "pip"
	}
	if t.Manager == "" {
		t.Manager = "uv"
	}
	p.Target = t
	p.EnvFixes = withRepair(EnvFixes(m, h, r, res), t.Repair)
	b := &builder{m: m, h: h, r: r, res: res, t: t, choice: res.Choice, src: readSources(h, t), fixes: p.EnvFixes}
	switch {
	case t.Rebuild() || !l.installed(h):
		b.locked(l)
		p.Keep = b.lockAlone(l)
	case t.Repair != nil:
		b.activate()
	}
	p.Steps, p.Warnings = b.steps, append(p.Warnings, b.warnings...)
	return p, plan.Seal(p)
}

func (l LockedProfile) choice() *resolver.Choice {
	c := &resolver.Choice{Torch: l.Profile.Torch, Build: l.Profile.Build, CUDA: l.Profile.CUDA, CuDNN: l.Profile.CuDNN, Python: l.Profile.Python,
		Channel: "pip", Packages: map[string]string{}, Arches: l.Profile.Arches}
	c.Torch, _ = version.SplitLocal(c.Torch)
	for _, k := range l.Packages.Packages {
		if slices.Contains(family, k.Name) {
			c.Packages[k.Name] = k.Version
		}
		if k.Name == "torch" && k.Index != "" {
			c.Index = &k.Index
		}
	}
	return c
}

// installed reports whether the environment holds every package of the profile in
// its version already.
func (l LockedProfile) installed(h machine.Machine) bool {
	have := map[string]string{}
	for _, p := range h.Installed {
		have[p.Name], _ = version.SplitLocal(p.Version)
	}
	for _, k := range l.Packages.Packages {
		if public, _ := version.SplitLocal(k.Version); have[k.Name] != public {
			return false
		}
	}
	return true
}

// lockAlone says that nothing is carried over into a locked environment, and how
// many packages of the present one the lock does not name.
func (b *builder) lockAlone(l LockedProfile) *plan.Keep {
	if b.t.Held == nil {
		return nil
	}
	locked := map[string]bool{}
	for _, k := range l.Packages.Packages {
		locked[k.Name] = true
	}
	n := 0
	for _, d := range b.t.Held.Dists {
		if !locked[d.Name] && d.Name != "pip" {
			n++
		}
	}
	return &plan.Keep{From: b.t.Dir, Why: fmt.Sprintf("%s alone says what is in it; %s of the present one it does not name", lock.File, packages(n))}
}

func (b *builder) locked(l LockedProfile) {
	b.warnings = append(b.warnings, b.src.warnings...)
	exe, ok := b.installer()
	if !ok {
		return
	}
	b.fetchAgain(exe)
	if !b.t.InPlace || !b.inEnvironment() {
		b.create(exe)
	}
	file := gen + "/envfix-requirements.txt"
	fetch := func(url string) string { return b.src.url(&url) }
	if l.Bundle != "" || b.t.Manager == "pip" && b.src.offline {
		fetch = nil // an address would be fetched, whatever else pip is told
	}
	if l.Bundle == "" {
		b.offlinePip()
	}
	b.add(plan.Step{ID: "requirements", Title: "write the hashes of " + l.Profile.Pylock.File, Why: "derived from it, for an installer that reads no pylock",
		Write: &plan.Write{Path: file, Mode: 0o644, Content: l.Packages.Requirements(fetch)}})
	b.add(plan.Step{ID: "torch", Title: fmt.Sprintf("install the %d locked packages", len(l.Packages.Packages)),
		Why: "exactly these bytes: every file by SHA-256, wheels only, nothing resolved", Bytes: l.Profile.Size.Download, Disk: l.Profile.Size.Installed,
		Run: b.hashed(exe, file, l.Bundle)})
	b.finish(exe)
}

// hashed is one call of the installer that accepts only the pinned files.
func (b *builder) hashed(exe, file, bundle string) *plan.Run {
	var argv []string
	tool := "uv"
	if b.t.Manager == "pip" {
		tool = "pip"
		argv = []string{b.python(), "-I", "-m", "pip", "install", "--isolated", "--disable-pip-version-check", "--no-input", "--retries", retries, "--timeout", timeout}
		if b.src.offline && bundle == "" {
			argv = append(argv, "--no-index")
		} else if url := b.src.url(nil); url != "" && bundle == "" {
			argv = append(argv, "--index-url", url)
		}
	} else {
		argv = b.uv(exe, "pip", "install", "--python", b.python())
		if url := b.src.url(nil); url != "" && bundle == "" {
			argv = append(argv, "--default-index", url)
		}
	}
	if bundle != "" {
		argv = append(argv, "--no-index", "--find-links", bundle)
	}
	argv = append(argv, "--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", file)
	return &plan.Run{Argv: argv, Env: b.src.online(tool)}
}
