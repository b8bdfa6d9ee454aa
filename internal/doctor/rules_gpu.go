package doctor

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/matrix"
)

// gpuRules look at whether the build has code for the GPU.
var gpuRules = []rule{
	{
		[]string{"ARC001", "ARC002", "ARC005", "ARC013"},
		"the GPU's capability and torch's list of architectures or build", (*exam).arch,
	},
	{[]string{"ARC013"}, "the GPU's capability and the range that torch's warning names", (*exam).beyondRange},
	{[]string{"ARC005"}, "a GPU older than every build", (*exam).ancientGPU},
	{[]string{"ARC005"}, "an older GPU, and words that it is not served any more", (*exam).oldInWords},
	{[]string{"ARC001", "ARC005", "TK011", "ROC001"}, "the message that no kernel image is there", (*exam).noKernel},
	{[]string{"ARC014"}, "a Jetson", (*exam).jetson},
	{[]string{"HW014"}, "the GPU's capability and the driver", (*exam).branchDropsGPU},
	{[]string{"HW013"}, "words on the open kernel module, and a GPU older than it serves", (*exam).openForOld},
	{[]string{"KMD008"}, "a driver that refuses a GPU of its own list", (*exam).refused},
}

// reach says how a build stands to a GPU.
type reach int

const (
	unknownReach reach = iota
	covered
	gpuTooNew
	gpuTooOld
)

// arch: the build has no code for a GPU in use.
func (e *exam) arch() {
	if e.Torch.NoCUDA || e.Torch.HIP != "" {
		return
	}
	var bad []machine.GPU
	good, state := 0, unknownReach
	for _, g := range e.Machine.GPUs {
		if g.Vendor != machine.NVIDIA || g.SM.IsZero() {
			continue
		}
		switch r := e.reach(g.SM); r {
		case covered:
			good++
		case gpuTooNew, gpuTooOld:
			bad, state = append(bad, g), r
		}
	}
	if len(bad) == 0 {
		return
	}
	g := bad[0]
	said := []read.Evidence{e.From.Capability, e.From.GPU, e.Torch.ArchesAt, e.Torch.VersionAt}
	what := "this torch"
	if e.Torch.Version != "" {
		what = "torch " + withLabel(e.Torch)
	}
	text := fmt.Sprintf("%s has no code for the %s (compute capability %s)", what, nameOr(g), g.SM)
	if _, warned := e.has(
		"torch-arch-incompatible", "torch-arch-cc", "torch-arch-too-old-desc", "no-kernel-image",
		"torch-arch-reinstall",
	); !warned && good > 0 {
		e.find("ARC013", hint, said...).text(text + "; it serves the other GPUs")
		return
	}
	f := Finding{Text: text, Fix: e.buildFor(g.SM, state)}
	weight := proven
	if e.worksElsewhere() {
		weight = trifle
	}
	if state == gpuTooNew {
		e.find("ARC002", weight, said...).with(f).explains("PERF010") // the driver compiles each kernel from PTX, for minutes
	} else {
		e.find("ARC005", weight, said...).with(f)
	}
}

// worksElsewhere reports whether torch sees a GPU under another kernel or driver: what it
// has code for is then not why it sees none here.
func (e *exam) worksElsewhere() bool {
	return e.Torch.Available != nil && strings.Contains(e.Torch.AvailableAt.Text, "True") &&
		strings.Contains(e.Torch.AvailableAt.Text, "False")
}

// beyondRange: before torch 2.11 the warning compares with the newest capability
// of the list alone. Code of the same major and a lesser minor runs.
// Source: pytorch/pytorch issue 164596.
func (e *exam) beyondRange() {
	if len(e.Torch.Range) != 2 {
		return
	}
	most := e.Torch.Range[1]
	said, warned := e.has("torch-arch-cc")
	if _, failed := e.has("no-kernel-image", "cuda-invalid-function", "ptxas-gpu-name"); failed || !warned {
		return
	}
	for _, g := range e.Machine.GPUs {
		if g.Vendor == machine.NVIDIA && g.SM.Major == most.Major && most.Less(g.SM) {
			f := e.find("ARC013", likely, said, e.Torch.ArchesAt).
				cause("expectation_misread").
				says("torch warns of the %s, and nothing is wrong: code for compute capability %s runs on %s",
					nameOr(g), most, g.SM).
				fix("nothing to do; torch 2.11 and newer no longer warn")
			f.Severity, f.over = know.Note, []string{"ARC001", "ARC002", "ARC003"}
			return
		}
	}
}

// ancientGPU: torch 1.3.1 and later have no code for compute capabilities below
// 3.7. It is a hint: on such a machine something else may be wrong as well.
// Source: pytorch/pytorch issues 24205, 30532.
func (e *exam) ancientGPU() {
	_, refused := e.has("cuda-invalid-function", "no-kernel-image")
	if e.Torch.NoCUDA || e.Torch.HIP != "" || !e.unavailable() && !refused && !e.clue("too-old-words") {
		return
	}
	if v := pythonVersion(e.Torch.Version); e.limit("code-since-1.3.1").Before(v) &&
		e.Torch.Rank > read.ByProse {
		return
	}
	if old := e.allBefore(e.limitSM("code-since-1.3.1", 0)); old != nil {
		e.find("ARC005", hint, e.From.GPU, e.From.Capability).
			says("no build of torch since 1.3.1 has code for the %s", nameOr(*old)).
			fix("use the CPU build: `pip install --force-reinstall torch torchvision --index-url https://download.pytorch.org/whl/cpu`, or another GPU")
		e.drop("ARC001") // its way out is a newer build
	}
}

// allBefore is the first of NVIDIA's GPUs where each is surely older than a compute
// capability; nil where one is not, or none is there.
func (e *exam) allBefore(sm machine.SM) *machine.GPU {
	var old *machine.GPU
	for i := range e.Machine.GPUs {
		g := &e.Machine.GPUs[i]
		if g.Vendor != machine.NVIDIA {
			continue
		}
		if !e.before(*g, sm) {
			return nil
		}
		if old == nil {
			old = g
		}
	}
	return old
}

// before reports whether a GPU is surely older than a compute capability: a name
// sold with several chips when each of them is.
func (e *exam) before(g machine.GPU, sm machine.SM) bool {
	if !g.SM.IsZero() {
		return g.SM.Less(sm)
	}
	if g.Name == "" || e.Devices == nil {
		return false
	}
	found := e.Devices.LookupName(g.Name)
	for _, d := range found {
		if d.Vendor != machine.NVIDIA || d.SM.IsZero() || !d.SM.Less(sm) {
			return false
		}
	}
	return len(found) > 0
}

func nameOr(g machine.GPU) string {
	if g.Name == "" {
		return "GPU"
	}
	return g.Name
}

// reach judges by the list that torch itself printed, else by the build in the
// data, else by the CUDA it was built with.
func (e *exam) reach(sm machine.SM) reach {
	if a := e.Torch.Arches; len(a) > 0 {
		r := reachOf(a, sm)
		if r == gpuTooNew && slices.ContainsFunc(e.Torch.PTX, func(p machine.SM) bool { return !sm.Less(p) }) {
			return covered
		}
		return r
	}
	if b, ok := e.build(); ok {
		native, ptx := e.Matrix.Covers(b, sm)
		if native || ptx {
			return covered
		}
		var have []machine.SM
		for _, c := range b.Native {
			have = append(have, c.SM)
		}
		return reachOf(have, sm)
	}
	switch cuda := e.Torch.CUDA; {
	case cuda.IsZero():
		return e.reachOfRelease(sm)
	case toolkitBefore(e.Matrix, cuda.MajorMinor(), sm):
		return gpuTooNew
	}
	return unknownReach
}

// reachOfRelease judges where nobody says which build it is: all of a release
// stand alike to the GPU, or nothing is known.
func (e *exam) reachOfRelease(sm machine.SM) reach {
	if e.Matrix == nil {
		return unknownReach
	}
	release, ok := e.Matrix.Release(e.Torch.Version)
	if !ok {
		if cuda := e.newestCUDA(pythonVersion(e.Torch.Version)); cuda != "" && toolkitBefore(e.Matrix, cuda, sm) {
			return gpuTooNew
		}
		return unknownReach
	}
	all := unknownReach
	for _, b := range release.Builds {
		if b.CUDA.IsZero() || b.OS != "linux" || b.Arch != "x86_64" {
			continue
		}
		r := gpuTooNew
		if native, ptx := e.Matrix.Covers(b, sm); native || ptx {
			r = covered
		} else if slices.ContainsFunc(b.Native, func(c matrix.Code) bool { return sm.Less(c.SM) }) {
			r = gpuTooOld
		}
		if all != unknownReach && all != r {
			return unknownReach
		}
		all = r
	}
	return all
}

// newestCUDA is the newest CUDA that a release before the data begins was built
// with; "" not known.
func (e *exam) newestCUDA(torch version.Python) string {
	for _, l := range []*know.Limit{
		e.limit("cuda-8-last"), e.limit("cuda-9-last"), e.limit("cuda-10.0-last"), e.limit("cuda-10.2-last"),
		e.limit("cuda-11.0-last"), e.limit("cuda-11.1-last"), e.limit("cuda-11.5-last"),
	} {
		if l.Before(torch) {
			return l.Value
		}
	}
	return ""
}

// reachOf judges by a list of cubins: one of the same major and no greater minor
// runs.
func reachOf(have []machine.SM, sm machine.SM) reach {
	if len(have) == 0 {
		return unknownReach
	}
	newest := have[0]
	for _, h := range have {
		if h.Major == sm.Major && h.Minor <= sm.Minor {
			return covered
		}
		if newest.Less(h) {
			newest = h
		}
	}
	if newest.Less(sm) {
		return gpuTooNew
	}
	return gpuTooOld
}

// toolkitBefore reports whether a CUDA of before the GPU cannot hold code for it: it
// is older than the first that compiles for a capability of the same major and no
// greater minor.
func toolkitBefore(m *matrix.Matrix, cuda string, sm machine.SM) bool {
	if m == nil {
		return false
	}
	var first version.Dotted
	for _, a := range m.Arches {
		v := dotted(a.FirstCUDA)
		if a.SM.Major == sm.Major && a.SM.Minor <= sm.Minor && !v.IsZero() && (first.IsZero() || v.Less(first)) {
			first = v
		}
	}
	return !first.IsZero() && dotted(cuda).Less(first)
}

// buildFor is a build that has code for the GPU.
func (e *exam) buildFor(sm machine.SM, state reach) []string {
	if c, _ := e.choose(); c == nil && state == gpuTooOld && sm.Less(e.limitSM("oldest-served", 0)) {
		return []string{"no current build serves this GPU: use the CPU build, or another GPU"}
	}
	return []string{"{torch}"}
}

// noKernel: "no kernel image" without the warning that names the capability. It
// may be torch or an extension that has none.
func (e *exam) noKernel() {
	said, ok := e.has(
		"no-kernel-image", "cuda-invalid-function", "torch-arch-incompatible", "torch-arch-reinstall",
		"torch-arch-cc",
	)
	if !ok {
		return
	}
	if e.vendor(machine.AMD) && !e.vendor(machine.NVIDIA) || e.Torch.HIP != "" {
		e.find("ROC001", likely, said, e.From.GPU)
		return
	}
	if s, old := e.has("torch-arch-too-old-desc"); old {
		e.find("ARC005", likely, s, said)
		return
	}
	oldest := e.limitSM("turing", 0) // CUDA 13 ends what is older; a build without its code has dropped it
	for _, g := range e.Machine.GPUs {
		if g.Vendor != machine.NVIDIA || g.SM.IsZero() {
			continue
		}
		switch r := e.reach(g.SM); {
		case r == covered && e.mentionsExtension():
			e.find("TK011", likely, said).
				says("torch has code for compute capability %s; the extension was built without", g.SM)
		case g.SM.Less(oldest): // no build is too old for it: what it lacks was dropped
			e.find("ARC005", strong+8, said, e.From.GPU)
		}
	}
}

// mentionsExtension reports whether compiled extensions are part of the story.
func (e *exam) mentionsExtension() bool {
	for _, n := range []string{
		"flash-attn", "xformers", "vllm", "bitsandbytes", "deepspeed", "torch-scatter", "apex", "mamba-ssm",
		"torch-sparse",
	} {
		if e.Installed(n) != nil {
			return true
		}
	}
	return e.clue("extension-built-for-other")
}

// jetson: a generic wheel on a Jetson.
func (e *exam) jetson() {
	if e.Machine.Platform.Environment != machine.Jetson {
		return
	}
	said, trouble := e.has(append([]string{
		"torch-cpu-build", "no-kernel-image", "torch-arch-incompatible", "torch-arch-cc", "cuda-lib-missing",
		"lib-missing-other", "pip-no-version", "wheel-tag", "torch-not-linked-cuda", "tv-nms",
	},
		noDevice...)...)
	if trouble || e.unavailable() || e.Torch.NoCUDA {
		e.find("ARC014", likely+5, e.Place.Jetson, e.Place.L4TAt, said, e.Torch.AvailableAt).fix(e.jetsonWays()...)
	}
}
