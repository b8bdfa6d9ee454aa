package resolver

import (
	"cmp"
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

// A rule says whether one build can serve an attempt. Rules do not depend on
// each other or on their order; cheap ones stand first because an attempt that
// needs no reasons stops at the first refusal.
type rule struct {
	name    string
	refuses func(q *attempt, b *matrix.Build) *Reason // nil: it passes
	passed  func(q *attempt, b *matrix.Build) string  // what it says where it passes
}

// rules are all the hard rules. Their names are part of the JSON form.
var rules = []rule{
	{"request", requestRule, requestWord},
	{"source", sourceRule, sourceWord},
	{"policy", policyRule, policyWord},
	{"python", pythonRule, pythonWord},
	{"platform", platformRule, platformWord},
	{"driver-floor", driverFloorRule, driverFloorWord},
	{"gpu-code", gpuCodeRule, gpuCodeWord},
	{"driver-gpu", driverGPURule, driverGPUWord},
	{"jit", jitRule, jitWord},
	{"companions", companionsRule, companionsWord},
	{"defects", defectsRule, defectsWord},
	{"stack", stackRule, stackWord},
}

func requestRule(q *attempt, b *matrix.Build) *Reason {
	if b.Framework != nil {
		if why := q.fits().notAsked(b); why != "" {
			return q.no(b.Source, "%s", why)
		}
	} else if !q.p.admitsTorch(b.Release.Torch) {
		return q.no("", "you asked for %s", q.p.req.torchText())
	}
	switch {
	case q.p.req.label != "" && q.p.req.label != b.Label && !(q.p.req.label == cpu && b.Label == mps): // Apple's wheel is the CPU wheel too
		return q.no("", "you asked for the build %s with %s", q.p.req.label, q.p.req.named)
	case q.p.req.cudaV.IsZero():
	case b.CUDA.Major() != q.p.req.cudaV.Major(),
		b.Framework == nil && strings.Contains(q.p.req.CUDA, ".") && b.CUDA.MajorMinor() != q.p.req.cudaV.MajorMinor():
		return q.no("", "you asked for CUDA %s", q.p.req.CUDA)
	}
	return nil
}

func requestWord(q *attempt, b *matrix.Build) string {
	if b.Framework != nil {
		return NoTorch
	}
	if t := q.p.req.torchText(); t != "" {
		return "is what " + t + " asks for"
	}
	return "nothing in the request is against it"
}

// sourceRule: which indexes the user allows, and which builds PyTorch offers. A
// build that no selector names, or that nobody saw, is taken only when named.
func sourceRule(q *attempt, b *matrix.Build) *Reason {
	switch {
	case b.Status == matrix.Offered, q.p.req.label == b.Label:
	case b.Status != matrix.NotSeen:
		return q.no(b.Source, "PyTorch does not advertise this build; it is taken only with `--build %s`", b.Label)
	case !q.p.req.unknown(b), q.p.cache.noneSeen, q.p.req.Channel != "":
	case q.p.req.lookedFor(b):
		return q.no(b.Source, "its index does not list this wheel; `torch==%s --build %s` takes it", b.Release.Torch, b.Label)
	default:
		return q.no(b.Source, "not known whether this wheel exists; `torch==%s --build %s` takes it", b.Release.Torch, b.Label)
	}
	switch only := strings.TrimSuffix(q.p.req.OnlyIndex, "/"); {
	case isConda(b):
		if m := q.p.req.manager; m.Channels != nil && !slices.Contains(m.Channels, b.Index) {
			return q.no(b.Source, "it is on the channel %s, and a %s project is given %s's", b.Index, m.Name, strings.Join(m.Channels, " and "))
		}
	case only == "":
	case only == "default":
		if !b.Default {
			return q.no(b.Source, "the default index does not carry it, and `--only-index default` allows no other")
		}
	case only == "pytorch":
		if b.Index == "" {
			return q.no(b.Source, "only the default index carries it, and `--only-index pytorch` does not allow that")
		}
	default:
		if strings.TrimSuffix(b.Index, "/") != only && !strings.HasPrefix(b.Index, only+"/") {
			return q.no(b.Source, "%s does not carry it as far as is known, and `--only-index` allows no other", text.Cut(only, 80))
		}
	}
	return nil
}

func sourceWord(q *attempt, b *matrix.Build) string {
	if !isConda(b) && q.fromDefault(b) {
		return "the default Python index carries it"
	}
	return b.Index + " carries it"
}

func pythonRule(q *attempt, b *matrix.Build) *Reason {
	if b.Framework != nil {
		if why := q.fits().noWheelOf(b); why != "" {
			return q.no(b.Source, "%s", why)
		}
		return nil
	}
	low, high := q.p.cache.pythons(b)
	if q.py.within(low, high, b.FreeThreaded) {
		return nil
	}
	if !q.explain {
		return silent
	}
	return q.no(b.Source, "no wheel for Python %s; its wheels are for %s", q.py, pythonSpan(b))
}

func pythonWord(q *attempt, b *matrix.Build) string {
	return fmt.Sprintf("a wheel for Python %s exists (%s)", q.py, pythonSpan(b))
}

func pythonSpan(b *matrix.Build) string {
	if b.Framework != nil {
		return cmp.Or(b.Framework.Python.String(), "as its files say")
	}
	s := b.PythonMin.String() + " to " + b.PythonMax.String()
	if len(b.FreeThreaded) > 0 {
		s += " and " + strings.Join(b.FreeThreaded, ", ")
	}
	return s
}

// platformRule: os and arch are given (builds lists no others); the C library
// decides, on a Mac the release of macOS. Wheels are made for glibc; none exists
// for musl. A version that is unknown refuses nothing.
func platformRule(q *attempt, b *matrix.Build) *Reason {
	if b.OS == "macos" {
		here, err := version.ParseDotted(q.p.h.Platform.DistroVersion)
		if err == nil && here.Less(b.MacOSMin) {
			return q.no(b.Source, "needs macOS %s; this system has %s", b.MacOSMin, here)
		}
		return nil
	}
	libc := q.p.h.Platform.Libc
	if b.OS != "linux" || libc == nil {
		return nil
	}
	if libc.Kind == "musl" && b.Framework == nil { // their files say it

		return q.no(b.Source, "PyTorch publishes no wheel for musl; this system has musl %s", libc.Version)
	}
	if !libc.Version.IsZero() && libc.Version.Less(b.Glibc) {
		return q.no(b.Source, "needs glibc %s; this system has %s", b.Glibc, libc.Version)
	}
	return nil
}

func platformWord(q *attempt, b *matrix.Build) string {
	if !b.MacOSMin.IsZero() {
		return fmt.Sprintf("made for macOS %s or newer on %s", b.MacOSMin, b.Arch)
	}
	if b.OS == "" {
		return "made for this system"
	}
	if b.Glibc.IsZero() {
		return "made for " + b.OS + " " + b.Arch
	}
	return fmt.Sprintf("made for %s %s with glibc %s or newer", b.OS, b.Arch, b.Glibc)
}

// gpuCodeRule: the build must have code for every GPU in use, a cubin that runs
// there or PTX that the driver can compile. PyTorch's own rule,
// torch/cuda/__init__.py.
func gpuCodeRule(q *attempt, b *matrix.Build) *Reason {
	if b.Framework != nil && b.Label == cpu && q.accel != cuda {
		return nil // also beside torch for another GPU
	}
	onIntel := q.accel == mps && b.OS == "macos" && b.Arch == "x86_64" // whose CPU wheel has the Metal backend
	if kind := accelOf(b.Label); kind != q.accel && !(kind == mps && q.accel == cpu) && !q.servesCPU(b) && !onIntel {
		if !q.explain {
			return silent
		}
		return q.no("", "%s", otherKind(q, b))
	}
	if q.accel == mps {
		return q.mpsRefusal(b)
	}
	for _, g := range q.gpus {
		var no *Reason
		switch q.accel {
		case cuda:
			no = q.cudaCode(b, g)
		case rocm:
			no = q.rocmCode(b, g)
		}
		if no != nil {
			return no
		}
	}
	return nil
}

func (q *attempt) cudaCode(b *matrix.Build, g machine.GPU) *Reason {
	if b.Framework != nil {
		if why := q.fits().codeOfFramework(b, g); why != "" {
			return q.no(b.Source, "%s", why)
		}
		return nil
	}
	if native, ptx := q.p.covers(b, g.SM); g.SM.IsZero() || !native && !ptx {
		if !q.explain {
			return silent
		}
		if isConda(b) && len(b.Native)+len(b.PTX) == 0 {
			return q.no(b.Source, "what it has code for is not known: its list was not collected")
		}
		return q.no(b.Source, "no code for %s; it has code for %s", gpuName(g), codeSpan(b))
	}
	if ptx, old := q.oldPTX(b, g.SM); old && q.p.req.label != b.Label {
		return q.no(b.Source, "nothing made for %s, only PTX of %s, which knows no half precision; it is taken only with `--build %s`", gpuName(g), ptx, b.Label)
	}
	return nil
}

func (q *attempt) rocmCode(b *matrix.Build, g machine.GPU) *Reason {
	t, ok := q.p.vendors().rocmTarget(b, g)
	if !ok {
		return q.no(b.Source, "no code for %s", gpuName(g))
	}
	if t.Broken != "" {
		return q.no(t.Source, "%s: %s", gpuName(g), t.Broken)
	}
	return nil
}

// servesCPU reports whether a CUDA build is taken for its CPU code: the default
// index carries it and, where no other index may be asked, often no CPU build.
func (q *attempt) servesCPU(b *matrix.Build) bool {
	return q.accel == cpu && q.p.req.OnlyIndex == "default" && b.Default && b.Framework == nil && accelOf(b.Label) == cuda
}

func otherKind(q *attempt, b *matrix.Build) string {
	kind := map[string]string{cuda: "is for NVIDIA GPUs", rocm: "is for AMD GPUs", xpu: "is for Intel GPUs", mps: "is for Apple GPUs", cpu: "does not use a GPU"}[accelOf(b.Label)]
	return say.Either(q.accel == cpu, kind+"; there is none to use", kind+"; there is "+gpuNames(q.gpus))
}

func gpuCodeWord(q *attempt, b *matrix.Build) string {
	if len(q.gpus) == 0 || q.accel == cpu {
		return "no GPU is to be used"
	}
	if q.accel == cuda {
		if f := b.Framework; f != nil {
			return say.Either(f.MinSM.IsZero(), "no GPU is known to be too old for it", "its builds are for GPUs from "+f.MinSM.String()+" on")
		}
		if list := strings.Join(arches(b), " "); list != "" {
			return fmt.Sprintf("has code for %s (%s)", gpuNames(q.gpus), list)
		}
	}
	return "has code for " + gpuNames(q.gpus)
}

// codeSpan says which GPUs a build has code for: "7.5, 8.0, 8.6, 9.0 and 12.0".
func codeSpan(b *matrix.Build) string {
	if len(b.Native) == 0 {
		return "no GPU of this kind"
	}
	return matrix.Codes(b.Native)
}

// half is the first GPU that computes in half precision (NVIDIA's CUDA programming
// guide, feature support per compute capability). Kernels in PTX for an older one have no
// such code whatever GPU they are compiled for, and torch's attention kernels end the job.
var half = machine.SM{Major: 5, Minor: 3}

// oldPTX is the newest PTX of a build for a GPU that it serves by PTX alone, where that
// is of a GPU without half precision.
func (q *attempt) oldPTX(b *matrix.Build, sm machine.SM) (newest machine.SM, old bool) {
	if native, ptx := q.p.covers(b, sm); native || !ptx {
		return newest, false
	}
	for _, c := range b.PTX {
		if newest.Less(c.SM) && !sm.Less(c.SM) {
			newest = c.SM
		}
	}
	return newest, newest.Less(half)
}

// ptxOnly reports whether a GPU is served only by PTX.
func (q *attempt) ptxOnly(b *matrix.Build) (machine.GPU, bool) {
	return xslices.Find(q.gpus, func(g machine.GPU) bool { native, ptx := q.p.covers(b, g.SM); return !native && ptx })
}
