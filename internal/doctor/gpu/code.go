package gpu

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// reach says how a build stands to a GPU.
type reach int

const (
	unknownReach reach = iota
	covered
	gpuTooNew
	gpuTooOld
)

// served tells the GPUs in use that the build has no code for, and why for the last of
// them, and how many it serves.
func served(e *evidence.Evidence, chosen []machine.GPU) (bad []machine.GPU, good int, state reach) {
	for _, g := range e.Machine.GPUs {
		hidden := len(chosen) > 0 && !slices.ContainsFunc(chosen, func(c machine.GPU) bool { return c.Index == g.Index })
		if g.Vendor != machine.NVIDIA || g.SM.IsZero() || hidden || !g.Visible && e.GPU().Spare(g) {
			continue
		}
		switch r := reachOfGPU(e, g.SM); r {
		case covered:
			good++
		case gpuTooNew, gpuTooOld:
			bad, state = append(bad, g), r
		}
	}
	return bad, good, state
}

// arch: the build has no code for a GPU in use.
func arch(e *evidence.Evidence, out *evidence.Findings) {
	if e.Torch.NoCUDA || e.Torch.HIP != "" {
		return
	}
	var chosen []machine.GPU
	if !e.Pasted && e.From.Env["CUDA_VISIBLE_DEVICES"] != (evidence.Quote{}) {
		chosen, _ = e.GPU().Chosen()
	}
	bad, good, state := served(e, chosen)
	if len(bad) == 0 {
		return
	}
	g := bad[0]
	said := []evidence.Quote{e.From.Capability, e.From.GPU, e.Torch.ArchesAt, e.Torch.VersionAt}
	what := say.Either(e.Torch.Version != "", "torch "+e.Torch.Named(), "this torch")
	text := fmt.Sprintf("%s has no code for the %s (compute capability %s)", what, evidence.NameOf(g), g.SM)
	if _, warned := e.Has(e.Limit("code-warned").Values...); !warned && good > 0 {
		out.Find("ARC013", evidence.Hint, said...).Say(text + "; it serves the other GPUs")
		return
	}
	fix := buildFor(e, g.SM, state)
	if len(chosen) > 0 && len(chosen) < len(e.GPU().Visible()) {
		said[1] = e.From.Env["CUDA_VISIBLE_DEVICES"]
		fix = append(fix, "or another GPU: CUDA_VISIBLE_DEVICES with its UUID (`nvidia-smi -L`)")
		if i := slices.IndexFunc(e.GPU().Visible(), func(o machine.GPU) bool { return reachOfGPU(e, o.SM) == covered }); i >= 0 {
			o := e.GPU().Visible()[i]
			fix = append([]string{"`export CUDA_VISIBLE_DEVICES=" + o.UUID + "`: the " + evidence.NameOf(o) + ", which it has code for"}, fix[len(fix)-1])
		}
	}
	weight := say.Either(worksElsewhere(e), evidence.Trifle, evidence.Proven)
	check := say.Either(state == gpuTooNew, "ARC002", "ARC005") // the driver compiles each kernel from PTX, for minutes
	out.Find(check, weight, said...).Say(text).Do(fix...)
}

// jit: a variable of CUDA's has it compile all code from PTX, or none; a build that has not
// the one that is left for the GPU has nothing for it.
func jit(e *evidence.Evidence, out *evidence.Findings) {
	b, ok := e.Build()
	if !ok || e.Pasted {
		return
	}
	gpus, _ := e.GPU().Chosen()
	for _, name := range []string{"CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT", "CUDA_DISABLE_PTX_JIT"} {
		value, forced := e.Machine.Env[name], name != "CUDA_DISABLE_PTX_JIT"
		i := slices.IndexFunc(gpus, func(g machine.GPU) bool {
			native, ptx := e.Matrix.Covers(b.Native, b.PTX, g.SM)
			return !g.SM.IsZero() && (forced && native && !ptx || !forced && !native && ptx)
		})
		if i < 0 || value == "" || value == "0" {
			continue
		}
		what := map[bool]string{true: "PTX", false: "finished code"}[forced]
		f := out.Find("ARC005", evidence.Proven.Exact(), e.From.Env[name], e.Torch.VersionAt).Of("none").
			Says("%s=%s leaves torch %s no code for the %s, for which it has no %s (no kernel image is available)",
				name, value, e.Torch.Named(), evidence.NameOf(gpus[i]), what)
		e.Repair().Unset(f, name)
	}
}

// worksElsewhere reports whether torch sees a GPU under another kernel or driver: what it
// has code for is then not why it sees none here.
func worksElsewhere(e *evidence.Evidence) bool {
	return e.Torch.Available != nil && strings.Contains(e.Torch.AvailableAt.Text, "True") &&
		strings.Contains(e.Torch.AvailableAt.Text, "False")
}

// beyondRange: before torch 2.11 the warning compares with the newest capability
// of the list alone. Code of the same major and a lesser minor runs.
// Source: pytorch/pytorch issue 164596.
func beyondRange(e *evidence.Evidence, out *evidence.Findings) {
	if len(e.Torch.Range) != 2 {
		return
	}
	most := e.Torch.Range[1]
	said, warned := e.Has("torch-arch-cc")
	if _, failed := e.Has("no-kernel-image", "cuda-invalid-function", "ptxas-gpu-name"); failed || !warned {
		return
	}
	for _, g := range e.Machine.GPUs {
		if g.Vendor == machine.NVIDIA && g.SM.Major == most.Major && most.Less(g.SM) {
			f := out.Find("ARC013", evidence.Likely, said, e.Torch.ArchesAt).
				Of("expectation_misread").
				Says("torch warns of the %s, and nothing is wrong: code for compute capability %s runs on %s",
					evidence.NameOf(g), most, g.SM).
				Do("nothing to do; torch 2.11 and newer no longer warn")
			f.As(evidence.Note)
			return
		}
	}
}

// ancientGPU: torch 1.3.1 and later have no code for compute capabilities below
// 3.7. It is a hint: on such a machine something else may be wrong as well.
// Source: pytorch/pytorch issues 24205, 30532.
func ancientGPU(e *evidence.Evidence, out *evidence.Findings) {
	_, refused := e.Has("cuda-invalid-function", "no-kernel-image")
	if e.Torch.NoCUDA || e.Torch.HIP != "" || !e.Torch.SeesNone() && !refused && !e.Clue("too-old-words") {
		return
	}
	if v := evidence.PythonVersion(e.Torch.Version); e.Limit("code-since-1.3.1").Before(v) &&
		e.Torch.Rank > evidence.ByProse {
		return
	}
	if old := e.GPU().AllBefore(e.LimitSM("code-since-1.3.1", 0)); old != nil {
		out.Find("ARC005", evidence.Hint, e.From.GPU, e.From.Capability).
			Says("no build of torch since 1.3.1 has code for the %s", evidence.NameOf(*old)).
			Do("use the CPU build: `pip install --force-reinstall torch torchvision --index-url https://download.pytorch.org/whl/cpu`, or another GPU")
		out.Deny("ARC001") // its way out is a newer build
	}
}

// reachOfGPU judges by the list that torch itself printed, else by the build in the
// data, else by the CUDA it was built with.
func reachOfGPU(e *evidence.Evidence, sm machine.SM) reach {
	if a := e.Torch.Arches; len(a) > 0 {
		r := reachOf(a, sm)
		if r == gpuTooNew && slices.ContainsFunc(e.Torch.PTX, func(p machine.SM) bool { return !sm.Less(p) }) {
			return covered
		}
		return r
	}
	if b, ok := e.Build(); ok {
		native, ptx := e.Matrix.Covers(b.Native, b.PTX, sm)
		if native || ptx {
			return covered
		}
		have := text.Each(b.Native, func(c matrix.Code) machine.SM { return c.SM })
		return reachOf(have, sm)
	}
	switch cuda := e.Torch.CUDA; {
	case cuda.IsZero():
		return reachOfRelease(e, sm)
	case toolkitBefore(e.Matrix, cuda.MajorMinor(), sm):
		return gpuTooNew
	}
	return unknownReach
}

// reachOfRelease judges where nobody says which build it is: all of a release
// stand alike to the GPU, or nothing is known.
func reachOfRelease(e *evidence.Evidence, sm machine.SM) reach {
	if e.Matrix == nil {
		return unknownReach
	}
	release, ok := e.Matrix.Release(e.Torch.Version)
	if !ok {
		if cuda := newestCUDA(e, evidence.PythonVersion(e.Torch.Version)); cuda != "" && toolkitBefore(e.Matrix, cuda, sm) {
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
		if native, ptx := e.Matrix.Covers(b.Native, b.PTX, sm); native || ptx {
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
func newestCUDA(e *evidence.Evidence, torch version.Python) string {
	for _, l := range []*evidence.Limit{
		e.Limit("cuda-8-last"), e.Limit("cuda-9-last"), e.Limit("cuda-10.0-last"), e.Limit("cuda-10.2-last"),
		e.Limit("cuda-11.0-last"), e.Limit("cuda-11.1-last"), e.Limit("cuda-11.5-last"),
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
	return say.Either(newest.Less(sm), gpuTooNew, gpuTooOld)
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
		v := evidence.Dotted(a.FirstCUDA)
		if a.SM.Major == sm.Major && a.SM.Minor <= sm.Minor && !v.IsZero() && (first.IsZero() || v.Less(first)) {
			first = v
		}
	}
	return !first.IsZero() && evidence.Dotted(cuda).Less(first)
}

// buildFor is a build that has code for the GPU.
func buildFor(e *evidence.Evidence, sm machine.SM, state reach) []string {
	if !e.Fit.Any() && state == gpuTooOld && sm.Less(e.LimitSM("oldest-served", 0)) {
		return []string{"no current build serves this GPU: use the CPU build, or another GPU"}
	}
	return []string{"{torch}"}
}

// noKernel: "no kernel image" without the warning that names the capability. It
// may be torch or an extension that has none.
func noKernel(e *evidence.Evidence, out *evidence.Findings) {
	said, ok := e.Has(e.Limit("code-missed").Values...)
	if !ok {
		return
	}
	if e.GPU().Of(machine.AMD) && !e.GPU().Of(machine.NVIDIA) || e.Torch.HIP != "" {
		out.Find("ROC001", evidence.Likely, said, e.From.GPU)
		return
	}
	if s, old := e.Has("torch-arch-too-old-desc"); old {
		out.Find("ARC005", evidence.Likely, s, said)
		return
	}
	oldest := e.LimitSM("turing", 0) // CUDA 13 ends what is older; a build without its code has dropped it
	for _, g := range e.Machine.GPUs {
		if g.Vendor != machine.NVIDIA || g.SM.IsZero() {
			continue
		}
		switch r := reachOfGPU(e, g.SM); {
		case r == covered && mentionsExtension(e):
			out.Find("TK011", evidence.Likely, said).
				Says("torch has code for compute capability %s; the extension was built without", g.SM)
		case g.SM.Less(oldest): // no build is too old for it: what it lacks was dropped
			out.Find("ARC005", evidence.Strong.Exact(), said, e.From.GPU)
		}
	}
}

// mentionsExtension reports whether compiled extensions are part of the story.
func mentionsExtension(e *evidence.Evidence) bool {
	return slices.ContainsFunc(e.Limit("compiled-packages").Values, func(name string) bool { return e.Installed(name) != nil })
}
