package installers

import (
	"maps"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// family are the packages that come from torch's own index, in the order in
// which people write them.
var family = []string{"torch", "torchvision", "torchaudio", "torchtext", "torchcodec", "torchdata"}

// A wheelTool installs wheels into a virtual environment.
type wheelTool interface {
	// bring returns the program that installs, and adds the steps that bring it where
	// it is missing. Without any way it adds a step for a person and reports false.
	bring(b *builder) (exe string, ok bool)
	// create makes the environment.
	create(b *builder, exe string) *plan.Run
	// begin is the beginning of each call that installs, index the option that holds
	// it to one index: nil is the default one.
	begin(b *builder, exe string) []string
	index(b *builder, index *string) []string
	// install begins a call that resolves, again one that does not; copies one that
	// takes from a folder alone. wheels refuses to build: pip may be told so also where
	// it builds what is named, uv may not.
	install(b *builder, exe string, c call) []string
	again(b *builder, exe string, index *string, wheels bool) []string
	copies(b *builder, exe string) []string
	// check compares the packages' requirements with what is there.
	check(b *builder, exe string) []string
	// remove begins a call that uninstalls.
	remove(b *builder, exe string) []string
	child() child
}

// A call is one call of the installer with one index.
type call struct {
	index    *string // nil: the default one
	pre      bool    // pre-releases alone
	replaces bool    // also another build of the same version
}

// venv plans a virtual environment, built aside with uv or pip, or changed in
// place.
func (b *builder) venv(tool wheelTool) {
	if b.t.Amends() {
		amend(b, tool)
		return
	}
	exe, ok := b.environment(tool)
	if !ok {
		return
	}
	b.keepSteps(exe)
	first, pins, rest := b.requirements()
	first, rest = append(first, b.beside...), append(rest, b.want...)
	if len(first) == 0 { // other frameworks alone
		b.install(exe,
			plan.Step{ID: "packages", Title: "install " + strings.Join(rest, ", "), Why: "from the default index; torch was not asked for"},
			nil, rest)
		b.places(exe, nil)
		b.finish(exe)
		return
	}
	size, _ := b.m.Size(b.choice.Torch, b.choice.Build, b.h.Platform.OS, b.h.Platform.Arch) // 0: nobody measured it
	if p := b.h.Has("torch"); b.t.InPlace && p != nil && same(*p, b.choice.Packages["torch"], b.choice) {
		size.DownloadMB, size.DiskMB = 0, 0 // it is there
	}
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
		}, nil, slices.Concat(pins, rest))
	}
	b.places(exe, pins)
	b.finish(exe)
}

// environment adds the steps that bring the tool and make the environment.
func (b *builder) environment(tool wheelTool) (exe string, ok bool) {
	b.tool = tool
	if exe, ok = tool.bring(b); !ok {
		return "", false
	}
	if !b.t.InPlace || !b.inEnvironment("venv", "conda") {
		run := tool.create(b, exe)
		b.add(running("venv", "make a virtual environment with Python "+b.choice.Python, b.aside(), run))
	}
	return exe, true
}

// places adds the step that builds what comes from repositories, with torch held.
func (b *builder) places(exe string, pins []string) {
	if len(b.t.Places) == 0 {
		return
	}
	argv := append(b.tool.begin(b, exe), b.tool.index(b, nil)...)
	b.add(plan.Step{ID: "places", Title: "build and install " + strings.Join(b.t.Places, ", "), Why: "from its repository; its own code runs here, as you, and that of what it requires",
		Run: &plan.Run{Argv: slices.Concat(argv, pins, b.t.Places), Env: b.src.online(b.tool)}})
}

// finish adds the steps after the installation: the installer's own check, the
// activate script, the proof, the switch.
func (b *builder) finish(exe string) {
	check := plan.Step{ID: "check", Title: "check that the packages agree", Why: "an environment whose packages contradict each other is not switched to"}
	check.Run = &plan.Run{Argv: b.tool.check(b, exe), Env: b.src.environment(b.tool)}
	if b.kept != nil {
		check.Run.Known = b.kept.Known
	}
	b.add(check)
	itself(b, exe)
	b.activate()
	b.prove()
}

// itself adds the step that installs the project itself, and what lies in folders of it.
func itself(b *builder, exe string) {
	var args []string
	for _, dir := range inPlace(b.t) {
		args = append(args, "--editable", dir)
	}
	if len(args) > 0 {
		what := say.List(" and ", say.If(b.t.Editable != "", "the project itself"), say.If(len(b.t.Members) > 0, "what lies in its folders"))
		b.add(plan.Step{ID: "project", Title: "install " + what + " in place", Why: "without its requirements, which are there; its own build runs, as you",
			Run: b.again(exe, nil, false, args...)})
	}
}

// prove adds the proof and the switch.
func (b *builder) prove() {
	v := verify(b.h, b.r, b.res, b.choice)
	if b.kept != nil {
		v.Packages = b.kept.Stays
	}
	if b.t.Amends() { // the others' files are those that proved themselves
		v.Imports = []string{"torch"}
		v.Added = append(v.Added, pep508.Names(pep508.Read(slices.Concat(b.t.Adds, b.t.Restores), ""))...)
	}
	b.add(plan.Step{ID: "verify", Title: proofTitle(v), Why: proofWords(b.r, v), Verify: v})
	if !b.t.InPlace {
		b.add(plan.Step{
			ID:     "switch",
			Title:  "make it " + b.t.Dir,
			Why:    "one rename; until here nothing that was there has changed",
			Switch: &plan.Switch{Dir: b.t.Dir},
		})
	}
	edit(b)
}

func (b *builder) aside() string {
	return say.Either(b.t.InPlace, "there is none in "+b.t.Dir, "beside the one in use, which stays as it is until the last step")
}

// install completes s, one call of the installer with one index, and adds it.
func (b *builder) install(exe string, s plan.Step, index *string, reqs []string) {
	c := call{index: index, replaces: s.ID == "torch" && b.t.InPlace,
		pre: index != nil && (b.r.Channel != "" || strings.Contains(b.vendorKind(), "nightly"))}
	argv := b.tool.install(b, exe, c)
	if _, plain := b.tool.(pip); b.t.AsOf != "" && index == nil && !plain { // what building needs is of then as well
		argv = append(argv, "--exclude-newer", b.t.AsOf+"T23:59:59Z")
	}
	if s.ID == "packages" {
		for _, pinned := range b.t.Build {
			name, _, _ := strings.Cut(pinned, "==")
			argv = append(argv, "--no-binary", name)
			if !slices.ContainsFunc(reqs, func(q string) bool { return q == pinned }) {
				reqs = append(reqs, pinned) // that version was consented to, and no later one
			}
		}
		argv = append(argv, b.held()...)
	}
	s.Run = &plan.Run{Argv: append(argv, reqs...), Env: b.src.online(b.tool)}
	b.add(s)
}

// held are the arguments that hold the installer to what uv found before the plan was
// printed, and adds the steps that write it down.
func (b *builder) held() (args []string) {
	stays := map[string]bool{} // what is carried over keeps its own version
	if b.kept != nil {
		for _, k := range b.kept.Stays {
			stays[k.Name] = k.Loose
		}
	}
	pins := slices.DeleteFunc(slices.Clone(b.t.Pins), func(pin string) bool { name, _, _ := strings.Cut(pin, "=="); return stays[name] })
	_, plain := b.tool.(pip)
	if plain && len(b.t.Override) > 0 {
		b.warn("pip cannot put %s in place of what packages require: uv can", strings.Join(b.t.Override, ", "))
		return nil
	}
	limits := b.t.BuildLimits
	if plain && len(limits) > 0 {
		b.warn("pip builds with the newest tools, and to build these takes %s: uv can", strings.Join(limits, ", "))
		limits = nil
	}
	for _, f := range []struct {
		id, flag string
		lines    []string
	}{{"constraint", "--constraint", pins}, {"override", "--override", b.t.Override}, {"build-constraint", "--build-constraint", limits}} {
		if len(f.lines) == 0 {
			continue
		}
		path := gen + "/envfix-" + f.id + ".txt"
		b.add(written(f.id, "write down what the packages are held to", "what uv found before this plan was made is what is installed", path, f.lines...))
		args = append(args, f.flag, path)
	}
	return args
}

// otherBuilds are the packages of torch's index that are there in the chosen version
// and in another build: 2.15.0+cpu satisfies torch==2.15.0 (PEP 440 ignores the
// label), so an installer would leave it.
func (b *builder) otherBuilds() []string {
	var out []string
	for _, p := range b.h.Installed {
		want, chosen := b.choice.Packages[p.Name]
		public, label := version.SplitLocal(p.Version)
		wantPublic, _ := version.SplitLocal(want)
		if chosen && rank(p.Name) < len(family) && public == wantPublic && label != b.choice.Build {
			out = append(out, p.Name)
		}
	}
	return out
}

func (b *builder) fromIndex() string {
	if b.choice.Index == nil {
		return "the default index carries this build"
	}
	return "one index per call: " + b.src.url(b.choice.Index)
}

// pin is how one version of a package is asked for; "" is whatever version the index has,
// as a vendor's.
func pin(c *resolver.Choice, r resolver.Request, name, public, label string) string {
	if url := c.URLs[name]; url != "" {
		return name + " @ " + url
	}
	pin := name + extras(r, name) + say.With("==", public, "")
	return say.Either(rank(name) < len(family) && c.Index == nil, pin, pin+say.With("+", label, ""))
}

// requirements returns what comes from torch's index, the exact pins that keep
// it in a later call, and the rest of what was asked for.
func (b *builder) requirements() (first, pins, rest []string) {
	names := slices.Sorted(maps.Keys(b.choice.Packages))
	slices.SortStableFunc(names, func(x, y string) int { return rank(x) - rank(y) })
	_, torchLabel := version.SplitLocal(b.choice.Packages["torch"])
	labelled := b.choice.Index != nil && torchLabel != "" && b.r.Channel == "" // what bears no label only the default index has
	placed := map[string]bool{}
	for _, n := range names {
		public, label := version.SplitLocal(b.choice.Packages[n])
		others := rank(n) == len(family)
		if others && public == "" {
			continue
		}
		pin := pin(b.choice, b.r, n, public, label)
		if others || labelled && label == "" {
			rest = append(rest, pin)
		} else {
			first, pins = append(first, pin), append(pins, pin)
		}
		placed[n] = true
	}
	for _, held := range b.choice.Holds {
		switch {
		case len(first) == 0: // other frameworks alone
			rest = append(rest, held)
		case b.choice.Index == nil, len(first) > 1 && strings.HasPrefix(held, "numpy"): // torchvision brings it, in the call of torch's own index
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
		if !pep508.Asks(b.r.Requirements, name) {
			rest = append(rest, b.choice.Ask[name])
		}
	}
	if b.t.WithPip && !pep508.Asks(b.r.Requirements, "pip") {
		rest = append(rest, "pip")
	}
	for _, q := range b.r.Requirements { // several may speak of one package
		w := q.Line()
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
	q, ok := xslices.Find(r.Requirements, func(q pep508.Requirement) bool { return q.Name == name && len(q.Extras) > 0 })
	return say.If(ok, "["+strings.Join(q.Extras, ",")+"]")
}

// gen is the environment that the steps work on: the one that is built aside, or
// in place the target itself.
const gen = "{gen}"
