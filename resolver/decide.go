package resolver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/matrix"
)

// An outcome is a bare answer with what it came from; Resolve adds the reasons,
// the nearest other answers and the alternatives.
type outcome struct {
	Resolution
	q     *question     // what was asked last
	build *matrix.Build // what was chosen; nil where nothing was
}

// answer is what decide says, asked once.
func (s *solver) answer() *outcome {
	if s.answered == nil {
		s.answered = s.decide()
	}
	return s.answered
}

// decide returns the bare answer.
func (s *solver) decide() *outcome {
	if s.req.conflict != "" {
		o := s.refuse("request", s.req.conflict)
		return o
	}
	if s.frameworksAlone() && s.req.accel() != rocm && (s.described() || s.elsewhere() == nil) {
		return s.frameworks()
	}
	if s.torchless() {
		return s.withoutTorch()
	}
	if why := s.nonexistent(); why != "" {
		return s.refuse("request", why)
	}
	wants := s.req.accel()
	if wants == cpu {
		return s.onCPU(fmt.Sprintf("a CPU build, as asked for with %s", s.req.named))
	}
	if o := s.elsewhere(); o != nil {
		return o
	}
	for _, serve := range []struct {
		accel, vendor string
		by            func([]machine.GPU) *outcome
	}{{cuda, machine.NVIDIA, s.nvidia}, {rocm, machine.AMD, s.amd}, {xpu, machine.Intel, s.intel}, {mps, machine.Apple, s.apple}} {
		gpus := s.vendor(serve.vendor)
		if len(gpus) == 0 || wants != "" && wants != serve.accel && s.hasVendor(wants) {
			continue
		}
		if o := serve.by(gpus); o != nil {
			return o
		}
	}
	return s.withoutGPU(wants)
}

// hasVendor reports whether a GPU is there that builds of a kind are for.
func (s *solver) hasVendor(accel string) bool {
	v := map[string]string{cuda: machine.NVIDIA, rocm: machine.AMD, xpu: machine.Intel, mps: machine.Apple}[accel]
	return len(s.vendor(v)) > 0
}

// elsewhere answers for a host that is not the one that will compute: an image
// build or a login node. Its own GPUs decide nothing; GPUs named by flags do.
func (s *solver) elsewhere() *outcome {
	if s.described() {
		return nil
	}
	hint := "name the target: `--gpu NAME --driver VERSION`, or `--facts FILE` of the machine that will compute"
	switch s.env() {
	case machine.ContainerBuild:
		return s.needTarget("this is an image build: the GPU and the driver that the image will meet are not here", hint)
	case machine.HPCLogin:
		return s.needTarget("this is a login node: the jobs run on other machines", hint+" (run `envfix facts --json` in a job)")
	}
	return nil
}

// withoutGPU answers where no GPU can be served.
func (s *solver) withoutGPU(wants string) *outcome {
	switch {
	case wants != "" && len(s.gpus) == 0:
		return s.needTarget("there is no GPU here, and a build for one was asked for",
			"name the target: `--gpu NAME --driver VERSION`; or drop that wish for a CPU build")
	case wants != "":
		return s.refuse("gpu-code", fmt.Sprintf("no build of that kind serves %s", gpuNames(s.gpus)))
	case len(s.gpus) > 0 && s.req.Channel != "":
		return s.refuse("gpu-code", fmt.Sprintf("no %s build has code for %s, as far as the newest release tells", s.req.Channel, gpuNames(s.gpus)))
	case len(s.gpus) > 0:
		return s.onCPU(fmt.Sprintf("%s for %s: this plan computes on the CPU only", s.noCode(), gpuNames(s.gpus)))
	case s.inContainer():
		return s.onCPU(
			"no GPU is visible in this container: this plan computes on the CPU only; if the host has a GPU, start the container with access to it (`--gpus all`)",
		)
	}
	return s.onCPU("no GPU was found: this plan computes on the CPU only")
}

// noCode begins the sentence that no candidate has code for a GPU, and says which
// candidates those are: another system's wheels may have it.
func (s *solver) noCode() string {
	switch {
	case s.req.conda():
		return "no conda build has code"
	case s.env() == machine.WSL2:
		return "no PyTorch wheel for WSL has code"
	case s.h.Platform.OS == "macos":
		if first, old := s.metalTooOld(); old {
			return fmt.Sprintf("no PyTorch wheel has an MPS backend for macOS %s (they begin with %s)", text.Clip(s.h.Platform.DistroVersion, 20), first)
		}
	}
	return fmt.Sprintf("no PyTorch wheel for %s %s has code", s.h.Platform.OS, s.h.Platform.Arch)
}

// onCPU chooses a CPU build. Its warning says why it is one.
func (s *solver) onCPU(why string) *outcome {
	q, b := s.try(cpu, nil, driver{})
	if b == nil {
		o := s.refuseAll(q)
		o.Warnings = append(o.Warnings, why)
		return o
	}
	o := &outcome{q: q, build: b}
	o.Decision, o.Choice, o.Driver = InstallCPU, q.choice(b), DriverChoice{Action: noDriver}
	o.Warnings = []string{why}
	return o
}

func (s *solver) needTarget(why, hint string) *outcome {
	o := &outcome{}
	o.Decision, o.Driver = NeedTarget, DriverChoice{Action: noDriver}
	o.Reasons = []Reason{{Rule: "target", Text: why, Hint: hint}}
	return o
}

// refuse is a no_solution with one reason.
func (s *solver) refuse(rule, why string) *outcome {
	o := &outcome{}
	o.Decision, o.Driver = NoSolution, s.kept()
	o.Reasons = []Reason{{Rule: rule, Text: why}}
	return o
}

// refuseAll is a no_solution whose reasons are the refusals of every candidate.
func (s *solver) refuseAll(q *question) *outcome {
	o := &outcome{q: q}
	o.Decision, o.Driver = NoSolution, s.kept()
	return o
}

func (s *solver) kept() DriverChoice {
	if s.h.Driver == nil || len(s.vendor(machine.NVIDIA)) == 0 {
		return DriverChoice{Action: noDriver}
	}
	return DriverChoice{Action: keep, KernelModule: s.h.Driver.KernelModule}
}

// nvidia answers for NVIDIA GPUs. It returns nil where no build and nothing else
// serves any of them, so that another vendor's GPU or the CPU may.
func (s *solver) nvidia(all []machine.GPU) *outcome {
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
		if b, ok := s.m.Branch(n); ok {
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
func (s *solver) able(gpus []machine.GPU) (able, hopeless []machine.GPU) {
	for _, g := range gpus {
		q := s.ask(cuda, []machine.GPU{g}, driver{}, py{})
		found := false
		q.builds(func(b *matrix.Build) {
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
func (s *solver) unserved(gpus []machine.GPU) *outcome {
	if v := s.jetsonIndex(gpus); v != nil {
		return s.vendorAnswer(v)
	}
	if s.tegra() || len(s.condaServes(gpus)) > 0 {
		q, _ := s.try(cuda, gpus, s.installed())
		return s.refuseAll(q)
	}
	return nil
}

// visible lists the indexes of GPUs and the value of CUDA_VISIBLE_DEVICES that
// shows them: UUIDs where all are known, since indexes change with the order of
// the bus.
func visible(gpus []machine.GPU) ([]int, string) {
	var at []int
	var uuids, numbers []string
	for _, g := range gpus {
		at = append(at, g.Index)
		numbers = append(numbers, fmt.Sprint(g.Index))
		if g.UUID != "" {
			uuids = append(uuids, g.UUID)
		}
	}
	if len(uuids) == len(gpus) {
		return at, strings.Join(uuids, ",")
	}
	return at, strings.Join(numbers, ",")
}

// serve answers for NVIDIA GPUs that builds have code for.
func (s *solver) serve(gpus []machine.GPU) *outcome {
	d := s.installed()
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
	if s.dropped(seen, d) {
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
func (s *solver) settle(gpus []machine.GPU, d driver) *outcome {
	q, b := s.try(cuda, gpus, d)
	if b == nil {
		return s.refuseAll(q)
	}
	o := &outcome{q: q, build: b}
	o.Decision, o.Choice = Install, q.choice(b)
	o.Driver = DriverChoice{Action: keep, Minimum: q.need(b), KernelModule: d.module}
	return o
}

// dropped reports whether the driver's branch no longer drives some GPU.
func (s *solver) dropped(gpus []machine.GPU, d driver) bool {
	return slices.ContainsFunc(gpus, func(g machine.GPU) bool {
		a, ok := s.m.Arch(g.SM)
		return ok && drives(d, a) == tooNew
	})
}

// moduleConflict reports whether no flavour of the kernel module drives all
// GPUs: Maxwell to Volta need the proprietary one, Blackwell and later the open
// one, and only one can be loaded.
func (s *solver) moduleConflict(gpus []machine.GPU) bool {
	return s.h.Platform.OS == "linux" && !s.windowsDriver() &&
		slices.ContainsFunc(gpus, s.openOnly) && slices.ContainsFunc(gpus, s.closedOnly)
}
