package ui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/resolver"
)

// leftColumn is where the text of a row begins.
const leftColumn = 9

// Plan returns the text of a plan that has an answer: what the machine is, what was
// chosen, the reason, and what changes. A verbose Style shows it whole: every reason
// and every step with its exact command.
func Plan(p *plan.Plan, s Style) string {
	v := &view{Style: s, windows: p.Basis.Facts.Platform.OS == "windows"}
	v.machine(p.Basis.Facts, p.Basis.Request.Described)
	if len(p.Basis.Assumed) > 0 {
		v.row("assumed", strings.Join(p.Basis.Assumed, ", "))
	}
	v.environment(p)
	if !s.Verbose {
		v.brief(p)
		return v.b.String()
	}
	v.choice(p)
	v.reasons(p)
	v.warnings(p.Warnings)
	v.envFixes(p.EnvFixes)
	v.carry(p.Keep)
	v.steps(p)
	v.others(p)
	return v.b.String()
}

// environment says which one is meant, where that is known.
func (v *view) environment(p *plan.Plan) {
	if p.Target.State != "" {
		v.row("environment", p.Target.Dir+" ("+p.Target.State+")")
	}
}

func (v *view) machine(h machine.Machine, described bool) {
	what := platformText(h.Platform) + say.If(described, " (described)")
	v.row("machine", what)
	for _, g := range say.Counted(text.Each(h.GPUs, GPU)) {
		v.row("gpu", g)
	}
	if len(h.GPUs) == 0 {
		v.row("gpu", "none")
	}
	switch d := h.Driver; {
	case d != nil:
		v.row("driver", driverText(*d))
	case len(h.GPUs) > 0 && h.GPUs[0].Vendor == machine.NVIDIA:
		v.row("driver", "none")
	}
}

// otherMachine shows how to plan for another machine where this one has nothing for
// torch to run on.
func (v *view) otherMachine(p *plan.Plan) {
	if nothing := withoutGPU(p); nothing != "" {
		v.row("", nothing+"; for another machine: `"+describedExample+"`")
	}
}

const describedExample = `envfix plan --gpu "RTX 5090" --driver 570.86.16`

// withoutGPU says why a plan is hardly what its user came for; "" it may be.
func withoutGPU(p *plan.Plan) string {
	h := p.Basis.Facts
	switch {
	case p.Basis.Request.Described || p.Basis.Request.CPU:
		return ""
	case len(h.GPUs) == 0:
		return "No GPU is here"
	case p.Decision == resolver.InstallCPU:
		return "No PyTorch build runs on the GPU that is here"
	}
	return ""
}

func platformText(p machine.Platform) string {
	parts := []string{strings.TrimSpace(p.OS + " " + p.Arch)}
	if name := strings.TrimSpace(p.Distro + " " + p.DistroVersion); name != "" && p.OS == "macos" {
		parts[0] = fmt.Sprintf("macOS %s, %s", p.DistroVersion, p.Arch)
	} else if name != "" {
		parts = append([]string{name}, parts...)
	}
	if p.Libc != nil {
		parts = append(parts, strings.TrimSpace(p.Libc.Kind+" "+p.Libc.Version.String()))
	}
	return say.List(", ", append(parts, say.If(p.Environment != machine.Bare, p.Environment))...)
}

func driverText(d machine.Driver) string {
	s := cmp.Or(d.Version.String(), "of unknown version") + say.With(", ", d.KernelModule, " kernel module")
	switch {
	case d.NotLoaded:
		s += ", installed and not loaded"
	case !d.LoadedVersion.IsZero() && d.LoadedVersion.Compare(d.Version) != 0:
		s += ", but the loaded module is " + d.LoadedVersion.String()
	}
	return s
}

// GPU is one GPU in words.
func GPU(g machine.GPU) string {
	s := cmp.Or(g.Name, g.Vendor+" GPU "+g.PCIID)
	switch {
	case !g.SM.IsZero() && !strings.HasSuffix(s, "compute capability "+g.SM.String()):
		s += ", compute capability " + g.SM.String()
	case g.GFX != "":
		s += ", " + g.GFX
	}
	s += say.With(", MIG ", g.MIG, "") + say.If(g.MemoryBytes > 0, fmt.Sprintf(", %d GiB", (g.MemoryBytes+1<<29)>>30))
	s += say.If(!g.Visible, ", not usable now")
	return s
}

// decisions are the sentences for what was decided.
var decisions = map[resolver.Decision]string{
	resolver.Install:         "the machine runs it as it is",
	resolver.InstallCPU:      "it runs on the CPU",
	resolver.UpgradeDriver:   "a newer driver is needed",
	resolver.PinDriverBranch: "the installed driver branch no longer drives this GPU",
	resolver.FixDriver:       "the driver has to be put right first",
	resolver.Partial:         "one build serves some of the GPUs",
	resolver.Split:           "every GPU can be served, but not by one environment",
	resolver.UseVendorIndex:  "only the vendor's own index serves the machine",
	resolver.NoSolution:      "nothing fits",
	resolver.NeedTarget:      "this is not the machine that will run it: name that one",
}

// Answer is what was decided, in words.
func Answer(d resolver.Decision) string { return decisions[d] }

func (v *view) choice(p *plan.Plan) {
	v.line("")
	v.wish(p)
	if p.Read != "" {
		v.row("read", p.Read)
	}
	if v.Verbose || p.Decision != resolver.Install {
		v.row("answer", Answer(p.Decision))
	}
	if p.Torch != "" || len(p.Packages) > 0 && p.Decision != resolver.UseVendorIndex {
		v.combination("choice", p.Choice)
	}
	v.driver(p.Driver, p.Basis.Facts.Platform.Environment)
	if p.Fallback != nil {
		v.combination("now", *p.Fallback)
	}
	if p.Then != nil {
		v.combination("then", *p.Then)
	}
	for _, e := range p.Environments {
		if e.Choice != nil {
			v.combination(gpuList(e.GPUs), *e.Choice)
		}
	}
	if len(p.VisibleGPUs) > 0 {
		v.row("gpus", "only "+gpuList(p.VisibleGPUs))
	}
}

func (v *view) wish(p *plan.Plan) {
	if p.Wish != nil && p.Wish.Remembered {
		v.row("wish", text.Command(p.Wish.Words()...)+", as when "+p.Target.Dir+" was made (`--fresh-wish` forgets it)")
	}
}

func gpuList(gpus []int) string {
	return "GPU " + strings.Join(text.Each(gpus, strconv.Itoa), ",")
}

// combination prints one choice.
func (v *view) combination(label string, c resolver.Choice) {
	s := "torch " + c.Torch + ", build " + c.Build
	if _, torch := c.Packages["torch"]; c.Torch == "" && torch {
		s = "the newest torch of that index, build " + c.Build
	} else if c.Torch == "" { // other frameworks
		s = strings.Join(slices.Sorted(maps.Keys(c.Packages)), ", ") + " on the CPU"
		if len(c.Ask) > 0 {
			s = strings.Join(slices.Compact(slices.Sorted(maps.Values(c.Ask))), ", ")
		}
	}
	for _, name := range []string{"torchvision", "torchaudio"} {
		if ver := c.Packages[name]; ver != "" {
			public, _, _ := strings.Cut(ver, "+")
			s += ", " + name + " " + public
		}
	}
	row := v.rowText(label, s)
	if c.Torch != "" {
		head, _, _ := strings.Cut(s, ", torchvision")
		row = strings.Replace(row, head, v.Chosen(head), 1)
	}
	v.b.WriteString(row)
	under := say.With("CUDA ", c.CUDA, ", ") + say.With("cuDNN ", c.CuDNN, ", ")
	v.row("", under+"Python "+c.Python+", "+from(c))
}

// driversOwner names the system whose driver a machine uses, where that is not its own.
var driversOwner = map[string]string{
	machine.Container: "which is the host's: change it there",
	machine.WSL2:      "which is Windows' own: change it there",
}

func from(c resolver.Choice) string {
	switch {
	case c.Channel != "" && c.Channel != "pip":
		return "from " + c.Channel
	case c.Index == nil:
		return "from the default index"
	}
	return "from " + *c.Index
}

// driverActions are the words for what is done with a driver; %s is which.
var driverActions = map[string]string{
	"install":       "install %s",
	"upgrade":       "update to %s",
	"pin":           "change to %s and hold it there",
	"switch-module": "change the kernel module of %s",
	"reboot":        "reboot, so that %s is loaded",
	"load":          "load the kernel module of %s",
}

// driver says what is done with the driver, and whose it is where that is another system.
func (v *view) driver(d plan.Driver, environment string) {
	switch d.Action {
	case "keep":
		if d.Minimum != nil && v.Verbose {
			v.row("driver", "stays; "+*d.Minimum+" is the oldest that would do")
		}
		return
	case "", "none":
		return
	}
	which := "the driver"
	switch {
	case d.Version != nil:
		which = *d.Version
	case d.Branch != nil:
		which = "branch " + *d.Branch
	}
	words := cmp.Or(driverActions[d.Action], d.Action+" %s")
	parts := []string{strings.Replace(words, "%s", which, 1)}
	if d.KernelModule != nil {
		parts = append(parts, *d.KernelModule+" kernel module")
	}
	if d.Minimum != nil && d.Action != "pin" { // a branch to hold says which
		parts = append(parts, "at least "+*d.Minimum)
	}
	v.row("driver", say.List(", ", append(parts, driversOwner[environment])...))
}

func (v *view) reasons(p *plan.Plan) {
	rows := text.Each(p.Reasons, func(r resolver.Reason) [2]string { return [2]string{Clean(r.Rule), Clean(r.Text)} })
	if len(rows) == 0 {
		return
	}
	v.section("because (`envfix why torch` shows every rule)")
	v.b.WriteString(v.Columns(rows, 2))
}

func (v *view) warnings(all []string) {
	if len(all) > 0 {
		v.line("")
	}
	for _, w := range all {
		v.b.WriteString(v.hang("warning: ", v.Warn("warning:")+" ", Clean(w), 2))
	}
}

func (v *view) envFixes(all []plan.EnvFix) {
	if len(all) == 0 {
		return
	}
	v.section("environment variables (`envfix env` prints the lines for a shell)")
	for _, f := range all {
		v.item("- ", envFix(f))
	}
}

func envFix(f plan.EnvFix) string {
	var s string
	switch f.Action {
	case "set":
		s = "set " + f.Variable + "=" + f.Value
	case "prepend":
		s = "put " + f.Value + " first on " + f.Variable
	default:
		s = "take " + f.Value + " out of " + f.Variable
	}
	s += say.If(f.Suspected, " (suspected: its files could not be read)")
	s += ": " + f.Why + say.With("; it comes from ", f.From, "")
	return s
}
