package resolver

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// floor is the oldest driver that runs builds of a label: the CUDA family's
// minimum (minor-version compatibility), in the column of this platform.
func (q *attempt) floor(b *matrix.Build) (version.Dotted, string) {
	if f := b.Framework; f != nil {
		return matrix.Floor{Windows: f.DriverWin, Linux: f.Driver}.Driver(q.drv.windows), f.Source
	}
	f, _ := q.p.m.Floor(b.Label)
	return f.Driver(q.drv.windows), f.Source
}

func driverFloorRule(q *attempt, b *matrix.Build) *Reason {
	if b.CUDA.IsZero() || q.accel != cuda {
		return nil
	}
	if !q.drv.compared { // JetPack's numbers: its CUDA decides
		if !q.drv.cuda.IsZero() && b.CUDA.Major() != q.drv.cuda.Major() {
			return q.no(b.Source, "needs CUDA %d; this JetPack brings CUDA %s", b.CUDA.Major(), q.drv.cuda)
		}
		return nil
	}
	need, source := q.floor(b)
	if q.drv.version.Less(need) {
		if !q.explain {
			return silent // asked of most builds of most machines: no words are made
		}
		return q.no(source, "needs driver %s or newer (CUDA %d family%s); there is %s", need, b.CUDA.Major(), column(q.drv), driverText(q.drv))
	}
	return nil
}

func driverFloorWord(q *attempt, b *matrix.Build) string {
	if q.accel != cuda {
		return "needs no NVIDIA driver"
	}
	if b.CUDA.IsZero() {
		return "its wheel links no CUDA, so that no driver is too old for it that is known"
	}
	if !q.drv.compared {
		return "the driver is JetPack's; its number is not compared"
	}
	need, _ := q.floor(b)
	return fmt.Sprintf("driver %s is not older than %s (CUDA %d family%s)", q.drv.version, need, b.CUDA.Major(), column(q.drv))
}

func column(d driver) string {
	return say.If(d.windows, ", Windows driver")
}

func driverText(d driver) string {
	return say.Either(d.version.IsZero(), "none", d.version.String())
}

// driverGPURule: this driver drives every GPU in use. It ends at both ends: a
// branch drops old GPUs, and an old driver does not know new ones; and a flavour
// of the kernel module drives only some.
func driverGPURule(q *attempt, b *matrix.Build) *Reason {
	if q.accel != cuda || !q.drv.compared || q.drv.version.IsZero() {
		return nil
	}
	for _, g := range q.gpus {
		a, ok := q.p.m.Arch(g.SM)
		if !ok {
			continue
		}
		switch drives(q.drv, a) {
		case tooOld:
			return q.no(a.Source, "driver %s does not know %s; it needs %s or newer", q.drv.version, gpuName(g), a.First(q.drv.windows))
		case tooNew:
			return q.no(a.Source, "driver %s does not drive %s any more; branch %d is the last", q.drv.version, gpuName(g), a.LastBranch)
		case wrongModule:
			return q.no(a.Source, "the %s kernel module does not drive %s", q.drv.module, gpuName(g))
		}
	}
	return nil
}

func driverGPUWord(q *attempt, b *matrix.Build) string {
	switch {
	case q.accel != cuda:
		return "needs no NVIDIA driver"
	case !q.drv.compared:
		return "the driver is JetPack's"
	}
	return fmt.Sprintf("driver %s drives %s", driverText(q.drv), gpuNames(q.gpus))
}

// A fit says how a driver and a GPU generation go together.
type fit int

const (
	fine fit = iota
	tooOld
	tooNew
	wrongModule
)

func drives(d driver, a matrix.Arch) fit {
	switch {
	case !d.compared || d.version.IsZero():
		return fine
	case a.LastBranch > 0 && d.branch.Number > a.LastBranch:
		return tooNew
	case d.version.Less(a.First(d.windows)):
		return tooOld
	case d.module != "" && !xslices.Admits(a.Modules, d.module):
		return wrongModule
	}
	return fine
}

// fit is how a driver and a GPU go together; nothing is known against one of which the
// matrix has no row.
func (s *problem) fit(d driver, g machine.GPU) fit {
	a, _ := s.m.Arch(g.SM)
	return drives(d, a)
}

// openOnly and closedOnly report which flavour of the kernel module a GPU
// insists on (both false: either).
func (s *problem) openOnly(g machine.GPU) bool   { return s.onlyModule(g) == "open" }
func (s *problem) closedOnly(g machine.GPU) bool { return s.onlyModule(g) == "proprietary" }

func (s *problem) onlyModule(g machine.GPU) string {
	if a, ok := s.m.Arch(g.SM); ok && len(a.Modules) == 1 {
		return a.Modules[0]
	}
	// Single products are stricter than their generation: GH200 takes the open
	// module only, other Hopper GPUs either.
	if s.h.Platform.Arch == "aarch64" {
		if d, ok := s.vendors().device(g); ok && len(d.Modules) == 1 {
			return d.Modules[0]
		}
	}
	return ""
}

// moduleFor returns the flavour to install: the open one wherever the GPUs can
// use it, which is what NVIDIA recommends from branch 560 on.
func (s *problem) moduleFor(gpus []machine.GPU) string {
	return say.Either(slices.ContainsFunc(gpus, s.closedOnly), "proprietary", "open")
}

// jitRule: PTX made by a newer toolkit does not load on an older driver. It
// counts where the build serves a GPU by PTX alone, and with --jit, where the
// job compiles kernels at run time; then triton's ptxas has to know the GPU too.
func jitRule(q *attempt, b *matrix.Build) *Reason {
	if q.accel != cuda {
		return nil
	}
	if g, ok := q.ptxOnly(b); ok && !q.natively(b) {
		return q.no(b.Source,
			"serves %s by PTX of CUDA %s only, which driver %s cannot compile (it supports CUDA %s)",
			gpuName(g), b.CUDA.MajorMinor(), driverText(q.drv), q.drv.cuda)
	}
	if !q.drv.compared && !q.natively(b) {
		return q.no(b.Source,
			"is built with CUDA %s; this JetPack brings %s, and newer ones are not promised to run there",
			b.CUDA.MajorMinor(), say.Either(q.drv.cuda.IsZero(), "one that is not known", "CUDA "+q.drv.cuda.String()))
	}
	if !q.p.req.JIT {
		return nil
	}
	if !q.natively(b) {
		return q.no(b.Source,
			"compiles kernels with CUDA %s at run time (`--jit`), and driver %s supports CUDA %s",
			b.CUDA.MajorMinor(), driverText(q.drv), q.drv.cuda)
	}
	for _, g := range q.gpus {
		p, ok := q.ptxas(b)
		if !ok || b.OS != "linux" {
			break
		}
		if !slices.Contains(p.Served, g.SM) {
			return q.no(p.Source, "torch.compile (`--jit`) does not serve %s: triton %s compiles for %s", gpuName(g), b.Triton, strings.Join(text.Each(p.Served, machine.SM.String), " "))
		}
		if why := q.assemblerFault(b, p, g); why != "" {
			return q.no(p.Source, "torch.compile (`--jit`) does not run: %s", why)
		}
	}
	return nil
}

// blackwell is the first GPU that triton has an assembler of its own for
// (triton's get_ptxas: ptxas-blackwell from sm_100 on).
var blackwell = machine.SM{Major: 10}

// assemblerFault says why the driver cannot load what triton's assembler makes for
// a GPU: its machine code is of a newer CUDA major than the driver's. "" it can.
func (q *attempt) assemblerFault(b *matrix.Build, p matrix.Ptxas, g machine.GPU) string {
	asm, newest, two := strings.Cut(p.Version, " and ")
	if two && !g.SM.Less(blackwell) {
		asm = newest
	}
	v, err := version.ParseDotted(asm)
	if err != nil || q.drv.cuda.IsZero() || v.Major() <= q.drv.cuda.Major() {
		return ""
	}
	return fmt.Sprintf("triton %s assembles for %s with ptxas %s, and driver %s loads code of CUDA %d at most",
		b.Triton, gpuName(g), asm, driverText(q.drv), q.drv.cuda.Major())
}

func jitWord(q *attempt, b *matrix.Build) string {
	switch {
	case q.accel != cuda:
		return "nothing is compiled for an NVIDIA GPU"
	case q.natively(b):
		return fmt.Sprintf("driver %s supports CUDA %s natively", driverText(q.drv), b.CUDA.MajorMinor())
	}
	return fmt.Sprintf("leans on minor-version compatibility: CUDA %s on a driver for CUDA %s", b.CUDA.MajorMinor(), q.drv.cuda)
}

// ptxas returns what triton's assembler of a build knows.
func (q *attempt) ptxas(b *matrix.Build) (matrix.Ptxas, bool) {
	return xslices.Find(q.p.m.Ptxas, func(p matrix.Ptxas) bool { return p.Triton.Compare(b.Triton) == 0 && p.Arch == b.Arch })
}
