package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/planning"
	"envfix/internal/say"
	"envfix/internal/version"
	"envfix/resolver"
)

// usualDriver is the driver that is taken for granted where a paste names none, or the
// first that knows the GPUs.
func (e *exam) usualDriver(gpus []machine.GPU) (usual version.Dotted) {
	for _, t := range e.Matrix.Toolkits {
		v := t.Driver(e.Driver().WindowsColumn())
		if t.Version.MajorMinor() == e.Limit("usual-machine").Values[0] && (usual.IsZero() || v.Less(usual)) {
			usual = v
		}
	}
	for _, g := range gpus {
		a, ok := e.Matrix.Arch(g.SM)
		if ok && usual.Less(e.Driver().First(a)) {
			usual = e.Driver().First(a)
		}
		if last, known := e.Matrix.Branch(a.LastBranch); ok && a.LastBranch > 0 && known && a.LastBranch < usual.Major() {
			usual = last.Latest // no newer driver knows this GPU
		}
	}
	return usual
}

// An assumption is what a paste does not say, and the resolver has to be told.
type assumption struct{ gpu, driver, old bool }

// words are what the answer then holds for.
func (e *exam) words(a assumption, c *resolver.Choice, h machine.Machine) string {
	var out []string
	if a.gpu {
		gpus := say.Either(a.old, "a GPU of the RTX 20 to 40 series", "a GPU of the RTX 20 series or newer")
		out = append(out, gpus)
	}
	if a.driver {
		if d := e.driverFor(c, h); !d.IsZero() {
			out = append(out, fmt.Sprintf("driver %d or newer", d.Major()))
		}
	}
	return strings.Join(out, " with ")
}

// driverFor is the oldest driver that runs a choice on the GPUs of a machine.
func (e *exam) driverFor(c *resolver.Choice, h machine.Machine) version.Dotted {
	f, ok := e.Matrix.Floor(c.Build)
	if !ok {
		return version.Dotted{}
	}
	oldest := e.Driver().FloorOf(f)
	for _, g := range h.GPUs {
		if a, ok := e.Matrix.Arch(g.SM); ok && oldest.Less(e.Driver().First(a)) {
			oldest = e.Driver().First(a)
		}
	}
	return oldest
}

// subject is the machine of the case as the resolver is asked for it. What a paste does
// not say is assumed, and said.
func (e *exam) subject() (h machine.Machine, assumed assumption) {
	h = e.Machine
	if !e.Pasted {
		return h, assumed
	}
	h.GPUs = slices.DeleteFunc(slices.Clone(h.GPUs), func(g machine.GPU) bool { return g.SM.IsZero() && g.GFX == "" })
	for i := range h.GPUs {
		h.GPUs[i].Visible, h.GPUs[i].KernelDriver, h.GPUs[i].Use = true, "", nil
	}
	if d := e.SaidDriver(); (h.Driver == nil || h.Driver.Version.IsZero()) && !d.IsZero() {
		h.Driver = &machine.Driver{Version: d}
	}
	if len(h.GPUs) == 0 && !e.GPU().OnlyForeign() {
		h.GPUs, assumed.old = e.usualGPUs(h.Driver)
		assumed.gpu = true
	}
	nvidia := slices.ContainsFunc(h.GPUs, func(g machine.GPU) bool { return g.Vendor == machine.NVIDIA })
	if nvidia && (h.Driver == nil || h.Driver.Version.IsZero()) {
		h.Driver = &machine.Driver{Version: e.usualDriver(h.GPUs)}
		assumed.driver = true
	}
	if d := h.Driver; d != nil {
		h.Driver = &machine.Driver{Version: d.Version}
	}
	usualPlatform(&h.Platform, e.glibcBelow())
	return h, assumed
}

// usualPlatform fills in what a paste does not say of a system.
func usualPlatform(p *machine.Platform, glibc version.Dotted) {
	if p.Libc == nil && p.OS == "linux" {
		p.Libc = &machine.Libc{Kind: "glibc", Version: glibc}
	}
	if p.OS == "" {
		p.OS, p.Arch = "linux", "x86_64"
	}
	if p.Environment == machine.Container {
		p.Environment = machine.Bare
	}
}

// usualGPUs are the GPUs that are taken for granted where none is told: an older and a
// newer one, as far as the driver drives them; old: without the newer, whose builds want a
// newer C library.
func (e *exam) usualGPUs(d *machine.Driver) (gpus []machine.GPU, old bool) {
	for i, sm := range []machine.SM{e.LimitSM("usual-machine", 1), e.LimitSM("usual-machine", 2)} {
		if i > 0 && !e.glibcBelow().IsZero() {
			return gpus, true
		}
		if a, ok := e.Matrix.Arch(sm); ok && d != nil && d.Version.Less(e.Driver().First(a)) {
			continue // a driver that works does not drive it
		}
		gpus = append(gpus, machine.GPU{Index: i, Vendor: machine.NVIDIA, SM: sm, Visible: true})
	}
	return gpus, false
}

// glibcBelow is a C library that does not have what a message misses of it: 2.17, which the
// older wheels are for, where 2.27 or 2.28 is missing. Zero: no message says so.
func (e *exam) glibcBelow() version.Dotted {
	s, ok := e.Has("glibc-old")
	m := missingGlibc().FindStringSubmatch(s.Text)
	if !ok || m == nil || evidence.Dotted(m[1]).Less(evidence.Dotted("2.18")) || evidence.Dotted(e.Limit("glibc").Value).Less(evidence.Dotted(m[1])) {
		return version.Dotted{}
	}
	return evidence.Dotted("2.17")
}

var missingGlibc = lazy.Regexp(`GLIBC_(\d+\.\d+)`)

// resolve asks planning what fits a machine, under what holds here whatever is asked. A
// question that cannot be asked has no decision.
func (e *exam) resolve(h machine.Machine, wish resolver.Request) *resolver.Resolution {
	if e.Matrix == nil {
		return &resolver.Resolution{}
	}
	r := e.Standing
	r.Requirements, r.Described = wish.Requirements, r.Described || wish.Described || e.Pasted
	r.Python, r.Build = cmp.Or(r.Python, e.Python().Active()), cmp.Or(wish.Build, r.Build)
	r.Manager, r.OnlyIndex = cmp.Or(wish.Manager, r.Manager), cmp.Or(wish.OnlyIndex, r.OnlyIndex)
	res, err := planning.Question{Matrix: e.Matrix, Machine: h, Request: r}.Choose()
	if err != nil {
		return &resolver.Resolution{}
	}
	return res
}

// choose asks the resolver for this machine: the torch that is there, where a build of
// it has code for the GPU, else the newest. nil: nothing is to be installed there.
func (e *exam) choose() (*resolver.Choice, assumption) {
	if e.Matrix == nil {
		return nil, assumption{}
	}
	h, assumed := e.subject()
	ask := func(torch string) *resolver.Choice {
		var r resolver.Request
		if torch != "" {
			q, err := pep508.Parse("torch=="+torch, "the paste")
			if err != nil {
				return nil
			}
			r.Requirements = []pep508.Requirement{q}
		}
		res := e.resolve(h, r)
		if res.Decision != resolver.Install || res.Choice == nil ||
			!strings.HasPrefix(res.Choice.Build, "cu") && !strings.HasPrefix(res.Choice.Build, "rocm") {
			return nil
		}
		return res.Choice
	}
	if e.Torch.Version != "" && e.Torch.Rank >= read.ByLabel {
		_, refused := e.Has("torch-arch-incompatible", "no-kernel-image", "torch-arch-too-old-desc")
		if c := ask(e.Torch.Version); c != nil && e.native(c, h) && (!refused || c.Build != e.Torch.Label) {
			return c, assumed
		}
	}
	return ask(""), assumed
}

// installable reports whether the resolver takes a torch and its build for this machine;
// where its driver is not known, what worked before does.
func (e *exam) installable(torch, label string) bool {
	if e.Machine.Driver == nil {
		return true
	}
	q, err := pep508.Parse("torch=="+torch, "the paste")
	if err != nil {
		return false
	}
	h, _ := e.subject()
	res := e.resolve(h, resolver.Request{Described: true, Build: label, Requirements: []pep508.Requirement{q}})
	return res.Choice != nil && res.Choice.Build == label
}

// native reports whether a choice has code for every GPU, and not only PTX.
func (e *exam) native(c *resolver.Choice, h machine.Machine) bool {
	b, ok := e.Matrix.BuildOf(c.Torch, c.Build, h.Platform.OS, h.Platform.Arch)
	return ok && !slices.ContainsFunc(h.GPUs, func(g machine.GPU) bool {
		cubin, _ := e.Matrix.Covers(b.Native, b.PTX, g.SM)
		return g.Vendor == machine.NVIDIA && !cubin
	})
}

// planned reports whether `envfix plan` has an answer that a person can follow for
// this machine as the paste describes it.
func (e *exam) planned() bool {
	if !e.Pasted || e.Matrix == nil {
		return true
	}
	c, _ := e.choose()
	return c != nil || e.GPU().Of(machine.AMD) || e.GPU().Of(machine.Intel) ||
		e.Machine.Platform.Environment == machine.Jetson
}

// knownSM reports whether the compute capability of every NVIDIA GPU is known.
func knownSM(e *evidence.Evidence) bool {
	unknown := func(g machine.GPU) bool { return g.Vendor == machine.NVIDIA && g.SM.IsZero() }
	return e.GPU().Of(machine.NVIDIA) && !slices.ContainsFunc(e.Machine.GPUs, unknown)
}

// newerPython: the Python that somebody has is older than all that builds for this GPU
// have wheels for.
func (e *exam) newerPython() []string {
	python := e.Python().Active()
	settled, oldest := e.Python().Settled()
	if python == "" || oldest == "" || evidence.PythonVersion(python).Compare(evidence.PythonVersion(oldest)) >= 0 {
		return nil
	}
	return []string{fmt.Sprintf("Python %s is older than those of current builds: `uv venv --python %s` makes an environment of a newer one, "+
		"and `%s --python %s` names the torch for it", python, settled, e.PlanCommand(), settled)}
}

// withoutChoice is torchFix where the resolver has no build for what is known.
func (e *exam) withoutChoice() []string {
	if e.GPU().Of(machine.AMD) && e.GPU().OnlyForeign() && e.Machine.Platform.OS == "linux" {
		return []string{"the ROCm build: `envfix plan --build rocm7.2`, where the GPU is supported"}
	}
	if !e.Pasted || e.Matrix == nil {
		return []string{"`envfix plan` names the build for this GPU and driver, `envfix apply` installs it"}
	}
	if knownSM(e.Evidence) && slices.ContainsFunc(e.Machine.GPUs, func(g machine.GPU) bool {
		return g.Vendor == machine.NVIDIA && g.SM.Less(e.LimitSM("oldest-served", 0))
	}) {
		return []string{"no current build serves this GPU: use the CPU build, or another GPU"}
	}
	return e.newerPython()
}

// torchFix is how to install the torch that fits: the exact command first.
func (e *exam) torchFix() []string {
	if e.Machine.Platform.OS == "macos" {
		return []string{"a Mac has no CUDA: use the device `mps` in place of `cuda`"}
	}
	if e.GPU().Of(machine.Intel) && e.GPU().OnlyForeign() {
		return []string{"`pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/xpu`: the build for Intel's GPUs"}
	}
	c, assumed := e.choose()
	if c == nil && e.barred() {
		return nil
	}
	if c == nil {
		return e.withoutChoice()
	}
	if _, old := e.Has("torch-driver-too-old"); old && assumed.driver {
		return []string{"update the NVIDIA driver: `" + e.PlanCommand() + "` on that machine says to which, or which build runs on the one that is there"}
	}
	if image := e.image(); image != "" {
		return imageFix(image, c, assumed)
	}
	h, _ := e.subject()
	command := "`pip install --force-reinstall " + e.Pair().Words(c.Torch, c.Build, h)
	if c.Index != nil {
		command += " --index-url " + *c.Index
	}
	command += "`"
	var notes []string
	if c.Index == nil {
		notes = append(notes, "the default index has its "+c.Build+" build")
	}
	if words := e.words(assumed, c, h); words != "" {
		notes = append(notes, "for "+words)
	}
	command += say.If(len(notes) > 0, ": "+strings.Join(notes, ", "))
	return []string{command, "`" + e.PlanCommand() + "` shows all that fits, `envfix apply` installs it"}
}
