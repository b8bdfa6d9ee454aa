//go:build !js

package installers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"
)

// A LockedProfile is one profile of a team's lock with its packages.
type LockedProfile struct {
	Profile  *lock.Profile
	Packages *lock.Packages
	Home     string // the folder of the lock, absolute: what lies beside it is found there
	Bundle   string // the folder of a bundle that the files lie in; "" they are fetched
	Tools    string // the file of the bundle that pins its uv; "" it brings none
	Why      string // why this profile of several that fit; "" it alone does
	Exact    bool   // what the lock does not name goes, too

	Driver *resolver.Resolution // what is decided of the driver, where the machine needs another one first; nil it stays
}

// Locked returns the sealed plan that installs a profile: exactly its files, by
// hash, wheels only, without a resolution. It chooses nothing; the driver's steps come
// first where there are any.
func Locked(m *matrix.Matrix, h machine.Machine, r resolver.Request, l LockedProfile, t plan.Target) (*plan.Plan, error) {
	res := l.resolution()
	drift := l.Packages.Drift(present(h, t))
	differs := drift.Differs() || l.Exact && drift.More()
	if t.Held != nil && differs {
		res.Warnings = append(res.Warnings, drifted(t.Dir, drift))
	}
	p := describe(m, h, r, res)
	t.Manager = cmp.Or(t.Manager, r.Manager)
	if t.Manager == "" && l.withoutUV(h) {
		t.Manager = "pip"
		res.Warnings = append(res.Warnings, "pip installs: uv is not here, and the bundle brings none for the machine")
	}
	t.Manager = cmp.Or(t.Manager, managers.Usual)
	installs, ok := byManager[t.Manager].(wheelTool)
	if !ok {
		return nil, fmt.Errorf("a lock names wheels, which uv and pip install; `--manager %s` installs none", t.Manager)
	}
	p.Target = t
	p.EnvFixes = withRepair(EnvFixes(m, h, r, res), t.Repair)
	b := &builder{m: m, h: h, r: r, res: res, t: t, choice: l.choice(), src: readSources(h, t), fixes: p.EnvFixes,
		bundle: l.Bundle, tools: l.Tools}
	if !differs && !l.Exact && t.Held != nil {
		for _, extra := range drift.Extras() {
			b.warn("%s; `envfix sync` removes it", extra)
		}
	}
	b.driverSteps()
	p.Driver.Version = orNull(b.driverVersion)
	switch {
	case t.Rebuild() || differs:
		b.locked(installs, l)
		p.Keep = b.lockAlone(l)
	case t.Repair != nil:
		b.activate()
	}
	p.Steps, p.Warnings = b.steps, append(p.Warnings, b.warnings...)
	return p, plan.Seal(p)
}

// withoutUV reports whether a bundle brings no uv to a machine that has none.
func (l LockedProfile) withoutUV(h machine.Machine) bool {
	_, here := tool(h, "uv")
	return l.Bundle != "" && l.Tools == "" && !here && len(h.Tools) > 0
}

// resolution is what the lock decided, and of the driver what the machine needs first.
func (l LockedProfile) resolution() *resolver.Resolution {
	res := &resolver.Resolution{Decision: resolver.Install, Choice: l.choice(), Driver: resolver.DriverChoice{Action: "keep"}}
	if l.Profile.Build == "cpu" {
		res.Decision = resolver.InstallCPU
	}
	res.Reasons = []resolver.Reason{
		{Rule: "lock", Text: fmt.Sprintf("profile %s of %s: %s", l.Profile.Name, lock.File, l.Profile.Match.Text()), Source: lock.File},
	}
	if l.Why != "" {
		res.Reasons = append(res.Reasons, resolver.Reason{Rule: "lock", Text: l.Why, Source: lock.File})
	}
	if d := l.Driver; d != nil {
		res.Decision, res.Driver, res.Choice, res.Then = d.Decision, d.Driver, nil, res.Choice
		for _, r := range d.Reasons {
			if strings.HasPrefix(r.Rule, "driver") { // the lock has decided on all else
				res.Reasons = append(res.Reasons, r)
			}
		}
	}
	return res
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

// drifted says why an environment is built anew, package by package.
func drifted(dir string, d lock.Drift) string {
	const most = 12 // an environment of something else differs in all
	lines := say.Few(d.Lines(), most, "and %d more: `envfix lock --check --installed` names them")
	return fmt.Sprintf("%s and %s differ: %s", dir, lock.File, strings.Join(lines, "; "))
}

// lockAlone says that nothing is carried over into a locked environment, and how
// many packages of the present one the lock does not name.
func (b *builder) lockAlone(l LockedProfile) *plan.Keep {
	if b.t.Held == nil {
		return nil
	}
	locked := xslices.Set(l.Packages.Packages, func(k lock.Package) string { return k.Name })
	n := len(xslices.Filter(b.t.Held.Dists, func(d machine.HeldDist) bool { return !locked[d.Name] && d.Name != "pip" }))
	return &plan.Keep{From: b.t.Dir, Why: fmt.Sprintf("%s alone says what is in it; %s of the present one it does not name", lock.File, text.Count(n, "package"))}
}

func (b *builder) locked(tool wheelTool, l LockedProfile) {
	b.warnings = append(b.warnings, b.src.warnings...)
	exe, ok := b.environment(tool)
	if !ok {
		return
	}
	file := gen + "/envfix-requirements.txt"
	fetch := func(url string) string { return b.src.url(&url) }
	if _, plain := tool.(pip); l.Bundle != "" || b.src.offline && plain {
		fetch = nil // an address would be fetched, whatever else pip is told
	}
	b.add(written("requirements", "write the hashes of "+l.Profile.Pylock.File, "derived from it, for an installer that reads no pylock",
		file, l.Packages.Wheels().Requirements(l.Home, fetch)))
	b.add(plan.Step{ID: "torch", Title: fmt.Sprintf("install the %d locked packages", len(l.Packages.Packages)-len(l.Packages.Sources())),
		Why: "exactly these bytes: every file by SHA-256, wheels only, nothing resolved", Bytes: l.Packages.Download(), Disk: l.Profile.Size.Installed,
		Run: b.hashed(exe, l.Bundle, "--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", file)})
	b.fromSource(exe, l, fetch)
	b.finish(exe)
}

// fromSource adds the steps that build packages here: source distributions by their
// digest, repositories at their commit, folders as they are. Their own code runs.
func (b *builder) fromSource(exe string, l LockedProfile, fetch func(string) string) {
	var names, binaries, lines []string
	for _, k := range l.Packages.Sources() {
		if len(k.Files()) > 0 {
			names = append(names, k.Name)
			binaries = append(binaries, "--no-binary", k.Name)
		} else {
			lines = append(lines, k.SourceLine(l.Home))
		}
	}
	if len(names) > 0 {
		file := gen + "/envfix-build.txt"
		sources := lock.Packages{Packages: l.Packages.Sources()}
		b.add(written("build-files", "write the hashes of the source distributions", "there is no wheel of "+strings.Join(names, ", ")+" for the machine",
			file, sources.Requirements(l.Home, fetch)))
		b.add(running("build", "build "+strings.Join(names, ", ")+" from source",
			"their own code runs here; the files are the locked ones, what builds them is the newest of the index",
			b.hashed(exe, l.Bundle, append([]string{"--require-hashes", "--no-deps", "-r", file}, binaries...)...)))
	}
	if len(lines) > 0 {
		file := gen + "/envfix-places.txt"
		b.add(written("places-file", "write where the other packages come from", "folders of this project, and repositories at a commit", file, lines...))
		b.add(running("places", "build and install "+strings.Join(lines, ", "), "their own code runs here", b.hashed(exe, l.Bundle, "--no-deps", "-r", file)))
	}
}

// present are the packages of the environment that is meant, by name.
func present(h machine.Machine, t plan.Target) map[string]string {
	have := map[string]string{}
	if t.Held != nil {
		for _, d := range t.Held.Dists {
			have[d.Name] = d.Version
		}
		return have
	}
	for _, p := range h.Installed {
		have[p.Name] = p.Version
	}
	return have
}

// hashed is one call of the installer on what the lock pins.
func (b *builder) hashed(exe, bundle string, args ...string) *plan.Run {
	argv := b.tool.begin(b, exe)
	if bundle != "" {
		argv = append(argv, "--no-index", "--find-links", bundle)
	} else {
		argv = append(argv, b.tool.index(b, nil)...)
	}
	return &plan.Run{Argv: append(argv, args...), Env: b.src.online(b.tool)}
}
