package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// A problem is a machine and a request, read once: nothing of it changes after that but
// its memo.
type problem struct {
	m   *matrix.Matrix
	h   machine.Machine
	req request

	gpus     []machine.GPU // those that the request admits, in order
	warnings []string      // found while reading

	needsTorch bool   // something of the request requires torch
	lead       string // the framework that stands where torch does; "" torch
	built      bool   // what was asked for needs no torch and has to be built

	libc  string // what else of the system decides about files
	cache *cache // what holds for every request on the machine
	memo  *memo  // what was found for this one
}

// A memo holds what was found for one problem; nothing of it changes an answer.
type memo struct {
	refused  map[refusedKey]bool
	answered *outcome // what decide said; nil until it is asked for
}

// newProblem reads a machine and a request. Its error reports a malformed request.
func newProblem(m *matrix.Matrix, h machine.Machine, r Request) (*problem, error) {
	s, err := NewSession(m).read(h, r)
	if err != nil {
		return nil, err
	}
	return s, s.naming().checkNames()
}

// complete adds what the request brings, once the problem has its cache.
func (s *problem) complete() {
	s.brought()
	s.unasked()
	s.readLead()
}

// unasked makes torchvision, which nobody named, optional where no build for this
// system has one.
func (s *problem) unasked() {
	_, asked := s.req.asked["torchvision"]
	if len(s.req.Requirements) > 0 || !asked ||
		slices.ContainsFunc(s.cache.wheels, func(b *matrix.Build) bool { _, ok := b.Companion("torchvision"); return ok }) {
		return
	}
	delete(s.req.asked, "torchvision")
	s.req.optional = append(s.req.optional, "torchvision")
}

func readInput(m *matrix.Matrix, h machine.Machine, r Request) (*problem, error) {
	req, err := readRequest(r, markersOf(h, r))
	if err != nil {
		return nil, err
	}
	s := &problem{m: m, h: h, req: req, libc: libcOf(h.Platform)}
	s.memo = &memo{refused: map[refusedKey]bool{}}
	for _, i := range r.GPUs {
		if !slices.ContainsFunc(h.GPUs, func(g machine.GPU) bool { return g.Index == i }) {
			return nil, fmt.Errorf("there is no GPU %d: %s; `--gpus` takes such indexes", i, indexes(h.GPUs))
		}
	}
	for _, g := range h.GPUs {
		if !xslices.Admits(r.GPUs, g.Index) {
			continue
		}
		if g.KernelDriver == "vfio-pci" {
			s.warnings = append(s.warnings, fmt.Sprintf("%s is handed to a virtual machine (vfio-pci) and is left out", gpuName(g)))
			continue
		}
		s.gpus = append(s.gpus, g)
	}
	return s, nil
}

// unanswered is a copy of the problem to change, which knows what was found for it.
func (s *problem) unanswered() *problem {
	t, found := *s, *s.memo
	found.answered = nil
	t.memo = &found
	return &t
}

// with returns the problem of the same machine with another request.
func (s *problem) with(change func(*Request)) *problem {
	r := s.req.Request
	r.Requirements = slices.Clone(r.Requirements)
	change(&r)
	t, err := readInput(s.m, s.h, r)
	if err != nil {
		return nil
	}
	t.cache = s.cache
	t.complete()
	t.advice().remember(s)
	return t
}

func (s *problem) vendor(v string) []machine.GPU {
	return xslices.Filter(s.gpus, func(g machine.GPU) bool { return g.Vendor == v })
}

func (s *problem) env() string {
	return cmp.Or(s.h.Platform.Environment, machine.Bare)
}

// windowsDriver reports whether the NVIDIA driver is Windows' own, so that the
// Windows column of every table counts (WSL too).
func (s *problem) windowsDriver() bool {
	return s.h.Platform.OS == "windows" || s.env() == machine.WSL2
}

// inContainer reports whether drivers are somebody else's to change.
func (s *problem) inContainer() bool {
	return s.env() == machine.Container || s.env() == machine.ContainerBuild
}

// A driver is the NVIDIA driver as the rules see it: the installed one, or the
// one that would be there after a change.
type driver struct {
	version  version.Dotted // zero: none
	module   string         // open, proprietary, "" unknown or not applicable
	compared bool           // false: its number follows JetPack and says nothing about CUDA
	windows  bool           // the Windows column counts
	branch   matrix.Branch  // zero Number: unknown
	cuda     version.Dotted // newest CUDA supported natively; zero unknown
}

// installed returns the machine's driver.
func (s *problem) installed() driver {
	d := driver{windows: s.windowsDriver(), compared: true}
	if s.tegra() {
		d.compared = false
		d.cuda = s.chooser().jetpackCUDA()
		return d
	}
	if s.h.Driver == nil {
		return d
	}
	d.version = s.h.Driver.Version
	if s.h.Platform.OS == "linux" && !d.windows {
		d.module = s.h.Driver.KernelModule
	}
	// The newest whose number is not above the driver's major: that also reads Windows numbers,
	// which count on within a branch (581.29 is of 580, 566.03 of 565).
	d.branch, _ = xslices.Find(s.m.Branches, func(b matrix.Branch) bool { return b.Number <= d.version.Major() })
	d.cuda = d.branch.CUDA
	return d
}

// tegra reports whether the driver is JetPack's, whose numbers (540.4.0, 580.00)
// follow JetPack: on a Jetson, and in a container on one.
func (s *problem) tegra() bool {
	p := s.h.Platform
	if s.env() == machine.Jetson || p.L4T != "" {
		return true
	}
	return p.OS == "linux" && p.Arch == "aarch64" && slices.ContainsFunc(s.vendor(machine.NVIDIA), func(g machine.GPU) bool {
		a, ok := s.m.Arch(g.SM)
		return ok && strings.HasPrefix(a.Note, "Jetson")
	})
}

// onBranch returns the driver that a branch would bring, with the flavour of the
// kernel module that serves the GPUs.
func (s *problem) onBranch(b matrix.Branch, gpus []machine.GPU) driver {
	d := driver{windows: s.windowsDriver(), compared: true, branch: b, cuda: b.CUDA}
	d.version = b.Newest(d.windows)
	if d.windows {
		if d.version.IsZero() { // the newest branches: no Windows driver is listed yet
			d.version = version.MustDotted(fmt.Sprint(b.Number))
		}
		return d
	}
	d.module = s.moduleFor(gpus)
	return d
}

// gpuName is a GPU in a sentence: "Tesla V100 (7.0)". Names come from outside,
// so control characters are dropped.
func gpuName(g machine.GPU) string {
	name := cmp.Or(strings.TrimPrefix(text.Clip(g.Name, 80), "NVIDIA "), fmt.Sprintf("GPU %d", g.Index))
	switch {
	case !g.SM.IsZero() && !strings.Contains(name, g.SM.String()):
		return name + " (" + g.SM.String() + ")"
	case g.GFX != "":
		return name + " (" + text.Cut(g.GFX, 80) + ")"
	}
	return name
}

func gpuNames(gpus []machine.GPU) string {
	return strings.Join(xslices.Once(text.Each(gpus, gpuName)), ", ")
}

func indexes(gpus []machine.GPU) string {
	if len(gpus) == 0 {
		return "the machine has no GPU"
	}
	n := text.Each(gpus, func(g machine.GPU) string { return fmt.Sprint(g.Index) })
	return "the machine has GPU " + strings.Join(n, ", ")
}

// sms returns the distinct compute capabilities, lowest first.
func sms(gpus []machine.GPU) []machine.SM {
	out := text.Each(gpus, func(g machine.GPU) machine.SM { return g.SM })
	slices.SortFunc(out, machine.SM.Compare)
	return slices.Compact(out)
}
