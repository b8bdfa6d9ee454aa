package installers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/version"
	"envfix/resolver"
)

// family are the packages that come from torch's own index, in the order in
// which people write them.
var family = []string{"torch", "torchvision", "torchaudio", "torchtext", "torchcodec", "torchdata"}

// uvBytes is what uv's own wheel takes to receive; on disk it is about three
// times that.
const uvBytes = 39 << 20

// venv plans a virtual environment, built aside with uv or pip, or changed in
// place.
func (b *builder) venv() {
	exe, ok := b.installer()
	if !ok {
		return
	}
	b.offlinePip()
	b.fetchAgain(exe)
	if !b.t.InPlace || !b.inEnvironment() {
		b.create(exe)
	}
	b.keepSteps(exe)
	first, pins, rest := b.requirements()
	first, rest = append(first, b.beside...), append(rest, b.want...)
	if len(first) == 0 { // other frameworks alone
		b.install(
			exe,
			plan.Step{ID: "packages", Title: "install " + strings.Join(rest, ", "), Why: "from the default index; torch was not asked for"},
			nil,
			rest,
		)
		b.finish(exe)
		return
	}
	size, _ := b.m.Size(b.choice.Torch, b.choice.Build, b.h.Platform.OS, b.h.Platform.Arch) // 0: nobody measured it
	b.install(exe, plan.Step{
		ID:    "torch",
		Title: "install " + strings.Join(first, ", "),
		Why:   b.fromIndex(),
		Bytes: int64(size.DownloadMB) * 1e6, Disk: int64(size.DiskMB) * 1e6,
	}, b.choice.Index, first)
	if len(rest) > 0 {
		b.install(exe, plan.Step{
			ID:    "packages",
			Title: "install " + strings.Join(rest, ", "),
			Why:   "from the default index, with torch held at what was just installed",
		}, nil, append(pins, rest...))
	}
	b.finish(exe)
}

// offlinePip says what pip cannot.
func (b *builder) offlinePip() {
	if b.src.offline && b.t.Manager == "pip" {
		b.warn(
			"without a network pip installs nothing that is not in a bundle: `--manager uv` installs what uv has cached, `--bundle DIR` what `envfix lock bundle` wrote",
		)
	}
}

// finish adds the steps after the installation: the installer's own check, the
// activate script, the proof, the switch.
func (b *builder) finish(exe string) {
	check := plan.Step{ID: "check", Title: "check that the packages agree", Why: "an environment whose packages contradict each other is not switched to"}
	if b.t.Manager == "pip" {
		check.Run = &plan.Run{Argv: []string{b.python(), "-I", "-m", "pip", "--isolated", "check"}, Env: b.src.environment("pip")}
	} else {
		check.Run = &plan.Run{Argv: []string{exe, "pip", "check", "--python", b.python()}, Env: b.src.environment("uv")}
	}
	if b.kept != nil {
		check.Run.Known = b.kept.Known
	}
	b.add(check)
	b.activate()
	b.prove()
}

// prove adds the proof and the switch.
func (b *builder) prove() {
	v := verify(b.h, b.r, b.res, b.choice)
	if b.kept != nil {
		v.Packages = b.kept.Stays
	}
	b.add(plan.Step{ID: "verify", Title: proofTitle(v), Why: proofWords(b.r, v), Verify: v})
	if !b.t.InPlace {
		b.add(
			plan.Step{
				ID:     "switch",
				Title:  "make it " + b.t.Dir,
				Why:    "one rename; until here nothing that was there has changed",
				Switch: &plan.Switch{Dir: b.t.Dir},
			},
		)
	}
}

// installer returns the program that installs, and adds the steps that bring it
// where it is missing. Without any way it adds a step for a person and reports
// false.
func (b *builder) installer() (string, bool) {
	if b.t.Manager == "pip" {
		if py, ok := b.interpreter(); ok {
			b.bringVenv(py)
			return "", true
		}
		b.add(plan.Step{ID: "python", Title: "install Python " + b.choice.Python, Why: "pip cannot bring a Python, and none here is " + b.choice.Python,
			Manual: &plan.Manual{Text: fmt.Sprintf("install Python %s, or drop `--manager pip`: uv brings its own", b.choice.Python)}})
		return "", false
	}
	if t, ok := tool(b.h, "uv"); ok {
		return t.Path, true
	}
	if b.r.Described && len(b.h.Tools) == 0 {
		return "uv", true // a facts file needs no tools in it
	}
	python, ok := anyPython(b.h)
	if !ok {
		return b.systemPython()
	}
	b.bringVenv(python)
	py := python.Path
	dir := "{tools}/uv"
	b.add(
		plan.Step{
			ID:    "tools",
			Title: "make a place for uv",
			Why:   "uv is not here; installing is about four times faster with it (`--manager pip` declines)",
			Run:   &plan.Run{Argv: []string{py, "-m", "venv", dir}, Env: map[string]string{}},
		},
	)
	what, bytes := []string{"uv"}, int64(uvBytes)
	if b.tools != "" {
		what, bytes = []string{"--find-links", b.bundle, "--require-hashes", "-r", b.tools}, 0
	}
	b.add(plan.Step{ID: plan.BringsUV, Title: "install uv there", Why: "for envfix alone; nothing of yours changes", Bytes: bytes, Disk: 3 * uvBytes,
		Run: &plan.Run{Argv: b.pip(dir+"/"+b.bin()+"/python", nil, what), Env: b.src.online("pip")}})
	return dir + "/" + b.bin() + "/uv", true
}

// create adds the steps that make the environment.
func (b *builder) create(exe string) {
	here, found := b.interpreter()
	py := here.Path
	if b.t.Manager == "pip" {
		b.add(plan.Step{ID: "venv", Title: "make a virtual environment with Python " + b.choice.Python, Why: b.aside(),
			Run: &plan.Run{Argv: []string{py, "-m", "venv", gen}, Env: map[string]string{}}})
		return
	}
	if !found {
		py = b.choice.Python
		b.add(plan.Step{ID: "python", Title: "bring Python " + py, Why: "no interpreter here is " + py + "; uv keeps its own beside the system's",
			Run: &plan.Run{Argv: b.uv(exe, "python", "install", py), Env: b.src.online("uv")}, Bytes: 0})
	}
	b.add(plan.Step{ID: "venv", Title: "make a virtual environment with Python " + b.choice.Python, Why: b.aside(),
		Run: &plan.Run{Argv: b.uv(exe, "venv", "--no-project", "--python", py, gen), Env: b.src.environment("uv")}})
}

func (b *builder) aside() string {
	if b.t.InPlace {
		return "there is none in " + b.t.Dir
	}
	return "beside the one in use, which stays as it is until the last step"
}

// install completes s, one call of the installer with one index, and adds it.
func (b *builder) install(exe string, s plan.Step, index *string, reqs []string) {
	nightly := index != nil && (b.r.Channel != "" || strings.Contains(b.vendorKind(), "nightly")) // pre-releases alone
	if b.t.Manager == "pip" {
		argv := b.pip(b.python(), index, nil)
		if nightly {
			argv = append(argv, "--pre")
		}
		if s.ID == "torch" {
			argv = append(argv, b.replace("--force-reinstall", "")...)
		}
		s.Run = &plan.Run{Argv: append(argv, reqs...), Env: b.src.online("pip")}
	} else {
		argv := b.uv(exe, "pip", "install", "--python", b.python(), "--only-binary", ":all:")
		if nightly {
			argv = append(argv, "--prerelease", "allow")
		}
		if s.ID == "torch" {
			argv = append(argv, b.replace("", "--reinstall-package")...)
		}
		if url := b.src.url(index); url != "" {
			argv = append(argv, "--default-index", url)
		}
		s.Run = &plan.Run{Argv: append(argv, reqs...), Env: b.src.online("uv")}
	}
	b.add(s)
}

// replace returns the flags that make an installer replace another build of the
// same version in place: 2.15.0+cpu satisfies torch==2.15.0 (PEP 440 ignores the
// label), so it would stay. all is pip's flag, each is uv's per package.
func (b *builder) replace(all, each string) []string {
	if !b.t.InPlace {
		return nil
	}
	if b.t.Rebuild() {
		return []string{cmp.Or(all, "--reinstall")}
	}
	var out []string
	for _, p := range b.h.Installed {
		want, chosen := b.choice.Packages[p.Name]
		public, label := version.SplitLocal(p.Version)
		wantPublic, _ := version.SplitLocal(want)
		if !chosen || rank(p.Name) == len(family) || public != wantPublic || label == b.choice.Build {
			continue
		}
		if all != "" {
			return []string{all}
		}
		out = append(out, each, p.Name)
	}
	return out
}

func (b *builder) uv(exe string, args ...string) []string {
	if b.src.offline {
		return append([]string{exe, "--offline"}, args...)
	}
	return append([]string{exe}, args...)
}

// pipInstall begins each call of pip. Both switches against the user's configuration
// are needed; see sources.environment.
func (b *builder) pipInstall(python string) []string {
	argv := []string{
		python,
		"-I",
		"-m",
		"pip",
		"install",
		"--isolated",
		"--disable-pip-version-check",
		"--no-input",
		"--retries",
		retries,
		"--timeout",
		timeout,
	}
	if dir := b.src.caches["PIP_CACHE_DIR"]; dir != "" { // --isolated ignores the variable
		argv = append(argv, "--cache-dir", dir)
	}
	return argv
}

// pip is one call of pip with one index: nil is the default one.
func (b *builder) pip(python string, index *string, reqs []string) []string {
	argv := append(b.pipInstall(python), "--only-binary", ":all:")
	if b.src.offline {
		argv = append(argv, "--no-index")
	} else if url := b.src.url(index); url != "" {
		argv = append(argv, "--index-url", url)
	}
	return append(argv, reqs...)
}

func (b *builder) fromIndex() string {
	if b.choice.Index == nil {
		return "the default index carries this build"
	}
	return "one index per call: " + b.src.url(b.choice.Index)
}

// requirements returns what comes from torch's index, the exact pins that keep
// it in a later call, and the rest of what was asked for.
func (b *builder) requirements() (first, pins, rest []string) {
	names := slices.Sorted(maps.Keys(b.choice.Packages))
	slices.SortStableFunc(names, func(x, y string) int { return rank(x) - rank(y) })
	_, torchLabel := version.SplitLocal(b.choice.Packages["torch"])
	placed := map[string]bool{}
	for _, n := range names {
		public, label := version.SplitLocal(b.choice.Packages[n])
		if rank(n) == len(family) {
			continue
		}
		pin := n + extras(b.r, n)
		if public != "" { // "" is whatever version the index has, as a vendor's
			pin += "==" + public
		}
		if b.choice.Index != nil && label != "" {
			pin += "+" + label
		}
		if b.choice.Index != nil && torchLabel != "" && label == "" && b.r.Channel == "" {
			rest = append(rest, pin) // only the default index has it
		} else {
			first = append(first, pin)
			pins = append(pins, pin)
		}
		placed[n] = true
	}
	for _, n := range names {
		if rank(n) == len(family) && b.choice.Packages[n] != "" {
			public, label := version.SplitLocal(b.choice.Packages[n])
			pin := n + extras(b.r, n) + "==" + public
			if label != "" {
				pin += "+" + label
			}
			if url := b.choice.URLs[n]; url != "" {
				pin = n + " @ " + url
			}
			rest = append(rest, pin)
			placed[n] = true
		}
	}
	for _, held := range b.choice.Holds {
		switch {
		case len(first) == 0: // other frameworks alone
			rest = append(rest, held)
		case b.choice.Index == nil:
			first, pins = append(first, held), append(pins, held)
		case len(first) > 1 && strings.HasPrefix(held, "numpy"): // torchvision brings it, in the call of torch's own index
			first, pins = append(first, held), append(pins, held)
		default: // only the default index is known to have it
			rest = append(rest, held)
		}
	}
	return first, pins, b.asked(rest, placed)
}

// asked adds to the rest what was asked for and is not placed.
func (b *builder) asked(rest []string, placed map[string]bool) []string {
	for _, name := range slices.Sorted(maps.Keys(b.choice.Ask)) { // a framework that what was asked for brings
		if !slices.ContainsFunc(b.r.Requirements, func(q pep508.Requirement) bool { return q.Name == name }) {
			rest = append(rest, b.choice.Ask[name])
		}
	}
	for _, q := range b.r.Requirements { // several may speak of one package
		w := written(q)
		if asked := b.choice.Ask[q.Name]; asked != "" {
			w = asked
		}
		if !placed[q.Name] && !slices.Contains(rest, w) {
			rest = append(rest, w)
		}
	}
	return rest
}

func rank(name string) int {
	if i := slices.Index(family, name); i >= 0 {
		return i
	}
	return len(family)
}

func extras(r resolver.Request, name string) string {
	for _, q := range r.Requirements {
		if q.Name == name && len(q.Extras) > 0 {
			return "[" + strings.Join(q.Extras, ",") + "]"
		}
	}
	return ""
}

// written is a requirement as an installer reads it, made from its parsed parts.
func written(q pep508.Requirement) string {
	s := q.Name
	if len(q.Extras) > 0 {
		s += "[" + strings.Join(q.Extras, ",") + "]"
	}
	if q.URL != "" {
		s += " @ " + q.URL
	} else if s += q.Spec.String(); q.Label != "" {
		s += "+" + q.Label
	}
	if q.Marker != "" {
		s += " ; " + q.Marker
	}
	return s
}

// gen is the environment that the steps work on: the one that is built aside, or
// in place the target itself.
const gen = "{gen}"
