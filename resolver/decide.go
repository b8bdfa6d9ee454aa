package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/matrix"
)

// An outcome is a bare answer with what it came from; Resolve adds the reasons,
// the nearest other answers and the alternatives.
type outcome struct {
	Resolution
	q     *attempt      // what was asked last
	build *matrix.Build // what was chosen; nil where nothing was
}

// answer is what decide says, asked once.
func (s chooser) answer() *outcome {
	if s.p.memo.answered == nil {
		s.p.memo.answered = s.decide()
	}
	return s.p.memo.answered
}

// decide returns the bare answer.
func (s chooser) decide() *outcome {
	if s.p.req.conflict != "" {
		return s.refuse("request", s.p.req.conflict)
	}
	if s.p.built {
		return s.p.frameworks().withoutTorch()
	}
	if why := s.p.naming().nonexistent(); why != "" {
		return s.refuse("request", why)
	}
	wants := s.p.req.accel()
	if wants == cpu {
		return s.onCPU(fmt.Sprintf("a CPU build, as asked for with %s", s.p.req.named), "")
	}
	if o := cmp.Or(s.elsewhere(), s.byOtherAPI()); o != nil {
		return o
	}
	for i, serve := range []func([]machine.GPU) *outcome{s.nvidia, s.p.vendors().amd, s.p.vendors().intel, s.apple} {
		k := vendorKinds[i]
		gpus := s.p.vendor(k.vendor)
		if len(gpus) == 0 || s.p.lead != "" && k.accel != cuda || wants != "" && wants != k.accel && s.hasVendor(wants) {
			continue
		}
		if o := serve(gpus); o != nil {
			return s.orOnCPU(o)
		}
	}
	return s.withoutGPU(wants)
}

// vendorKinds are the vendors in the order in which their GPUs are taken, and what builds
// for them are called.
var vendorKinds = [...]struct{ accel, vendor string }{{cuda, machine.NVIDIA}, {rocm, machine.AMD}, {xpu, machine.Intel}, {mps, machine.Apple}}

// hasVendor reports whether a GPU is there that builds of a kind are for.
func (s chooser) hasVendor(accel string) bool {
	return slices.ContainsFunc(vendorKinds[:], func(k struct{ accel, vendor string }) bool { return k.accel == accel && len(s.p.vendor(k.vendor)) > 0 })
}

// elsewhere answers for a host that is not the one that will compute: an image
// build or a login node. Its own GPUs decide nothing; GPUs named by flags do.
func (s chooser) elsewhere() *outcome {
	if len(s.p.gpus) > 0 && !slices.ContainsFunc(s.p.gpus, func(g machine.GPU) bool { return g.Evidence != machine.FromFlag }) {
		return nil // the machine at hand is not the target
	}
	hint := "name the target: `--gpu NAME --driver VERSION`, or `--facts FILE` of the machine that will compute"
	switch s.p.env() {
	case machine.ContainerBuild:
		return s.needTarget("this is an image build: the GPU and the driver that the image will meet are not here", hint)
	case machine.HPCLogin:
		return s.needTarget("this is a login node: the jobs run on other machines", hint+" (run `envfix facts --json` in a job)")
	}
	return nil
}

// byOtherAPI answers for a framework whose code is for GPUs of any vendor; nil: it is not.
func (s chooser) byOtherAPI() *outcome {
	if s.p.lead == "" || len(s.p.gpus) == 0 || len(s.p.vendor(machine.NVIDIA)) > 0 {
		return nil
	}
	q, b := s.try(cuda, s.p.gpus, driver{})
	if b == nil || b.Framework.API == "" {
		return nil
	}
	return q.installs(Install, b)
}

// withoutGPU answers where no GPU can be served.
func (s chooser) withoutGPU(wants string) *outcome {
	host, way := s.p.h.Lent()
	switch {
	case wants != "" && len(s.p.gpus) == 0:
		return s.needTarget("there is no GPU here, and a build for one was asked for",
			"name the target: `--gpu NAME --driver VERSION`; or drop that wish for a CPU build")
	case wants != "":
		return s.refuse("gpu-code", fmt.Sprintf("no build of that kind serves %s", gpuNames(s.p.gpus)))
	case len(s.p.gpus) > 0 && s.p.req.Channel != "":
		return s.refuse("gpu-code", fmt.Sprintf("no %s build has code for %s, as far as the newest release tells", s.p.req.Channel, gpuNames(s.p.gpus)))
	case len(s.p.gpus) > 0:
		return s.onCPU(fmt.Sprintf("%s for %s"+onlyCPU, s.noCode(), gpuNames(s.p.gpus)), strings.Join(s.p.vendors().ofPackages(), "; "))
	case host != "":
		return s.onCPU("this "+host+" has no GPU"+onlyCPU, way)
	case s.p.inContainer():
		return s.onCPU("no GPU is visible in this container"+onlyCPU, "if the host has a GPU, start the container with access to it (`--gpus all`)")
	case s.p.h.Platform.OS == "macos" && s.p.h.Platform.Arch == "x86_64":
		return s.onCPU("PyTorch left Intel Macs at 2.2.2, which serves AMD's GPUs in them alone (`--gpu NAME` names one)"+onlyCPU, "")
	case s.p.req.Described && s.p.h.Platform.OS != "macos":
		return s.onCPU("no GPU is known there (`--gpu NAME` names one)"+onlyCPU, "")
	}
	return s.onCPU("no GPU was found"+onlyCPU, "")
}

// noCode begins the sentence that no candidate has code for a GPU, and says which
// candidates those are: another system's wheels may have it.
func (s chooser) noCode() string {
	switch {
	case s.p.lead != "":
		return fmt.Sprintf("%s has no code that is known", PlainName(s.p.lead))
	case s.p.req.conda():
		return "no conda build has code"
	case s.p.env() == machine.WSL2:
		return "no PyTorch wheel for WSL has code"
	case s.p.h.Platform.OS == "macos":
		if first, old := s.metalTooOld(); old {
			return fmt.Sprintf("no PyTorch wheel has an MPS backend for macOS %s (they begin with %s)", text.Clip(s.p.h.Platform.DistroVersion, 20), first)
		}
	}
	return fmt.Sprintf("no PyTorch wheel for %s %s has code", s.p.h.Platform.OS, s.p.h.Platform.Arch)
}

const onlyCPU = ": this plan computes on the CPU only"

// onCPU chooses a CPU build. Its warning says why it is one, and how to get a GPU, if it
// is known: that is also told where no CPU build fits.
func (s chooser) onCPU(why, way string) *outcome {
	q, b := s.try(cpu, nil, driver{})
	if b == nil {
		o := s.refuseAll(q)
		if way != "" || len(s.p.gpus) > 0 {
			o.Warnings = []string{strings.TrimSuffix(why, onlyCPU) + say.With("; ", way, "")}
		}
		return o
	}
	o := q.installs(InstallCPU, b)
	o.Warnings = []string{why + say.With("; ", way, "")}
	return o
}

// installs is an answer whose build needs no NVIDIA driver.
func (q *attempt) installs(d Decision, b *matrix.Build) *outcome {
	return &outcome{Resolution: Resolution{Decision: d, Choice: q.choice(b), Driver: DriverChoice{Action: noDriver}}, q: q, build: b}
}

func (s chooser) needTarget(why, hint string) *outcome {
	return &outcome{Resolution: Resolution{Decision: NeedTarget, Driver: DriverChoice{Action: noDriver},
		Told: Told{Reasons: []Reason{{Rule: "target", Text: why, Hint: hint}}}}}
}

// refuse is a no_solution with one reason.
func (s chooser) refuse(rule, why string) *outcome {
	o := s.refuseAll(nil)
	o.Reasons = []Reason{{Rule: rule, Text: why}}
	return o
}

// refuseAll is a no_solution whose reasons are the refusals of every candidate.
func (s chooser) refuseAll(q *attempt) *outcome {
	return &outcome{Resolution: Resolution{Decision: NoSolution, Driver: s.kept()}, q: q}
}

func (s chooser) kept() DriverChoice {
	if s.p.h.Driver == nil || len(s.p.vendor(machine.NVIDIA)) == 0 {
		return DriverChoice{Action: noDriver}
	}
	return DriverChoice{Action: keep, KernelModule: s.p.h.Driver.KernelModule}
}

// nvidia answers for NVIDIA GPUs. It returns nil where no build and nothing else
// serves any of them, so that another vendor's GPU or the CPU may.
func (s chooser) nvidia(all []machine.GPU) *outcome {
	able, hopeless := s.able(all)
	if len(able) == 0 {
		return s.unserved(hopeless)
	}
	o := s.serve(able)
	if len(hopeless) == 0 || o == nil {
		return o
	}
	why := fmt.Sprintf("%s for %s: it is left out", s.noCode(), gpuNames(hopeless))
	o.Warnings = append(o.Warnings, why)
	if n, err := strconv.Atoi(o.Driver.Branch); err == nil {
		if b, ok := s.p.m.Branch(n); ok {
			o.Warnings = append(o.Warnings, s.undriven(b))
		}
	}
	if o.Decision == Install {
		o.Decision = Partial
	}
	if o.Decision == Partial {
		o.VisibleGPUs, o.CUDAVisible = visible(able)
	}
	return o
}

// able splits the GPUs into those that some build for this system has code for,
// whatever torch, Python and driver it takes, and the hopeless rest.
func (s chooser) able(gpus []machine.GPU) (able, hopeless []machine.GPU) {
	for _, g := range gpus {
		q := s.p.ask(cuda, []machine.GPU{g}, driver{}, py{})
		found := false
		q.p.builds(func(b *matrix.Build) {
			found = found || gpuCodeRule(q, b) == nil && stackRule(q, b) == nil
		})
		if found || g.SM.IsZero() {
			able = append(able, g)
		} else {
			hopeless = append(hopeless, g)
		}
	}
	return able, hopeless
}

// unserved answers where no wheel has code for any NVIDIA GPU: a vendor's own
// index, or another channel as the way out; else nil.
func (s chooser) unserved(gpus []machine.GPU) *outcome {
	if v := s.p.vendors().jetsonIndex(gpus); v != nil {
		return s.p.vendors().vendorAnswer(v)
	}
	if s.p.lead != "" || s.p.tegra() || len(s.p.advice().condaServes(gpus)) > 0 {
		q, _ := s.try(cuda, gpus, s.p.installed())
		return s.refuseAll(q)
	}
	return nil
}

// visible lists the indexes of GPUs and the value of CUDA_VISIBLE_DEVICES that
// shows them: UUIDs where all are known, since indexes change with the order of
// the bus.
func visible(gpus []machine.GPU) ([]int, string) {
	at := text.Each(gpus, func(g machine.GPU) int { return g.Index })
	uuids := text.Each(gpus, func(g machine.GPU) string { return g.UUID })
	if !slices.Contains(uuids, "") {
		return at, strings.Join(uuids, ",")
	}
	return at, strings.Join(text.Each(at, strconv.Itoa), ",")
}

// serve answers for NVIDIA GPUs that builds have code for.
func (s chooser) serve(gpus []machine.GPU) *outcome {
	d := s.p.installed()
	if !d.compared {
		return s.settle(gpus, d)
	}
	if s.moduleConflict(gpus) {
		if o := s.split(gpus); o != nil {
			return o
		}
		return s.refuse("driver-gpu", s.splitText(gpus))
	}
	if action, why := s.driverFault(gpus, d); action != "" {
		return s.fix(action, why, gpus, d)
	}
	seen, unseen := s.unseen(gpus, d)
	if old, _ := s.dropped(seen, d); len(old) > 0 {
		if o := s.pinBranch(seen, d); o != nil {
			return o
		}
	} else if o := s.settle(seen, d); o.Decision == Install {
		if _, ptx := o.q.ptxOnly(o.build); ptx {
			// One build would serve all, but some GPU only by compiling everything
			// at first use: an environment of its own serves that one better.
			if apart := s.split(seen); apart != nil {
				return apart
			}
		}
		if len(unseen) > 0 {
			o.Warnings = append(o.Warnings, fmt.Sprintf("%s is on the bus and not visible through the driver: it is left out", gpuNames(unseen)))
		}
		return o
	} else if o := s.upgradeDriver(seen, d); o != nil {
		return o
	}
	if o := s.split(seen); o != nil {
		return o
	}
	q, _ := s.try(cuda, seen, d)
	return s.refuseAll(q)
}

// settle answers with a driver as it is.
func (s chooser) settle(gpus []machine.GPU, d driver) *outcome {
	q, b := s.try(cuda, gpus, d)
	if b == nil {
		return s.refuseAll(q)
	}
	o := q.installs(Install, b)
	o.Driver = DriverChoice{Action: keep, Minimum: q.need(b), KernelModule: d.module}
	return o
}

// dropped are the GPUs that the driver's branch no longer drives, and the last one that
// drives all of them.
func (s chooser) dropped(gpus []machine.GPU, d driver) (old []machine.GPU, last int) {
	for _, g := range gpus {
		if a, _ := s.p.m.Arch(g.SM); drives(d, a) == tooNew {
			old = append(old, g)
			last = min(cmp.Or(last, a.LastBranch), a.LastBranch)
		}
	}
	return old, last
}

// moduleConflict reports whether no flavour of the kernel module drives all
// GPUs: Maxwell to Volta need the proprietary one, Blackwell and later the open
// one, and only one can be loaded.
func (s chooser) moduleConflict(gpus []machine.GPU) bool {
	return s.p.h.Platform.OS == "linux" && !s.p.windowsDriver() &&
		slices.ContainsFunc(gpus, s.p.openOnly) && slices.ContainsFunc(gpus, s.p.closedOnly)
}
