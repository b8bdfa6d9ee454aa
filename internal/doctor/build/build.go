package build

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/version"
	"envfix/matrix"
)

// cpuBuild: torch was built without CUDA. Whose fault that is depends on who
// installed it and where. conda's builds carry no label; the wheels that Windows
// gets by default call themselves +cpu.
func cpuBuild(e *evidence.Evidence, out *evidence.Findings) {
	if !missesCUDA(e) {
		return
	}
	t := e.Torch
	nvidia := signsOfNVIDIA(e)
	weight := evidence.Proven
	switch {
	case failsBefore(e):
		weight = evidence.Weak
	case !nvidia:
		weight = evidence.Likely
	}
	if s, pair := e.Has("tv-nms"); pair && !nvidia && !e.WantsGPU() {
		out.Find("PY007", evidence.Likely, s, t.VersionAt) // the CPU build is what was asked for
	}
	text := withoutCUDA(e)
	said := []evidence.Quote{t.VersionAt, t.CUDAAt, t.AvailableAt}
	switch conda := e.Conda().Package("pytorch"); {
	case e.Machine.Platform.Environment == machine.Jetson:
		out.Find("ARC014", weight, append(said, e.Place.Jetson)...).
			Say(text + "; Jetson needs NVIDIA's own wheel")
	case e.Conda().Made():
		out.Find("PY025", weight, append(said, evidence.Fact("conda's record: %s", e.Files.Conda[0]))...).Say(text).Do("{conda}")
	case conda != nil || ofConda(e):
		if conda != nil {
			said = append(said, conda.At)
		}
		out.Find("PY025", weight, append(said, e.Place.Conda)...).Say(text)
	case e.Machine.Platform.Arch == "aarch64" && e.Machine.Platform.OS == "linux" && !offersCUDA(e):
		out.Find("IDX003", weight, append(said, e.From.Arch)...).Say(text).Do("{torch}")
	case !nvidia && (e.GPU().Of(machine.AMD) || e.GPU().Of(machine.Intel)):
		out.Find("PY001", evidence.Strong, said...).Say(text).Do("{torch}")
	default:
		out.Find("PY001", weight, said...).Say(text).Do("{torch}")
	}
}

// signsOfNVIDIA reports whether anything tells of a GPU of NVIDIA's.
func signsOfNVIDIA(e *evidence.Evidence) bool {
	return e.GPU().Of(machine.NVIDIA) || e.Machine.Driver != nil || !e.SMI.CUDA.IsZero() || len(e.Machine.Toolkits) > 0
}

// withoutCUDA says what was built without CUDA.
func withoutCUDA(e *evidence.Evidence) string {
	text := say.Either(e.Torch.Version != "", fmt.Sprintf("torch %s was built without CUDA", e.Torch.Named()), "this torch was built without CUDA")
	if g := e.GPU().First(machine.NVIDIA); g != nil {
		text += fmt.Sprintf("; it cannot use the %s", g.Name)
	}
	return text
}

// ofConda reports whether conda is there and its build is what is told: those carry no label.
func ofConda(e *evidence.Evidence) bool {
	return e.Torch.Label == "" && !e.Place.Conda.IsZero() &&
		(e.Installed("torch") == nil || e.Torch.Rank == evidence.ByTorch && e.Machine.Platform.OS == "windows")
}

// missesCUDA reports whether torch was built without CUDA where it should have it: a machine
// without such a GPU is well served by that build.
func missesCUDA(e *evidence.Evidence) bool {
	return e.Torch.NoCUDA && e.Torch.HIP == "" && e.Machine.Platform.OS != "macos" && !xpu(e) && !e.CPUByChoice() &&
		(e.Pasted || e.GPU().Of(machine.NVIDIA))
}

// failsBefore reports whether the program fails before any GPU is asked for.
func failsBefore(e *evidence.Evidence) bool {
	_, elsewhere := e.Has(e.Limit("fails-before-gpu").Values...)
	return elsewhere && !e.WantsGPU()
}

// offersCUDA reports whether this release has a CUDA build for this platform;
// unknown is yes.
func offersCUDA(e *evidence.Evidence) bool {
	if e.Matrix == nil || e.Torch.Version == "" {
		return true
	}
	r, ok := e.Matrix.Release(e.Torch.Version)
	if !ok {
		return !e.Limit("aarch64-cuda").Before(evidence.PythonVersion(e.Torch.Version))
	}
	p := e.Machine.Platform
	return slices.ContainsFunc(r.Builds, func(b *matrix.Build) bool { return b.OS == p.OS && b.Arch == p.Arch && !b.CUDA.IsZero() })
}

// xpu reports whether an Intel GPU is what it is about.
func xpu(e *evidence.Evidence) bool {
	if e.Torch.Label == "xpu" {
		return true
	}
	_, said := e.Has("xpu-not-available", "ipex-pair")
	return said
}

// noCUDA is what says that no GPU is seen: of whichever vendor, CUDA is what was asked for.
func noCUDA(e *evidence.Evidence) (evidence.Quote, bool) {
	said, ok := e.Has(e.Limit("cuda-missed").Values...)
	if !ok && e.Machine.Platform.OS == "windows" {
		return e.Unseen()
	}
	return said, ok
}

// cudaOnAMD: a build for CUDA, or a program that asks for it, and the GPU is AMD's.
func cudaOnAMD(e *evidence.Evidence, out *evidence.Findings) {
	if !e.GPU().Of(machine.AMD) || e.GPU().Of(machine.NVIDIA) {
		return
	}
	t, gpu := e.Torch, e.From.GPU
	said, trouble := noCUDA(e)
	asked := strings.Contains(e.Did.Index.Text, "whl/rocm")
	switch {
	case !t.CUDA.IsZero() && !onlyIntegrated(e, machine.AMD):
		out.Find("PY017", evidence.Proven, t.VersionAt, t.CUDAAt, gpu).
			Says("torch %s is a CUDA build, and the GPU is AMD's", t.Named())
	case !trouble || t.HIP != "":
	case e.Machine.Driver == nil && e.Place.WSL.IsZero() && e.From.GFX.IsZero() && !asked:
		needsROCm(e, out, said)
	case t.Label == "" && asked:
		out.Find("ROC002", evidence.Likely.Loose(), e.Did.Index, gpu, said).
			Says("the ROCm build was asked for, and it sees no GPU")
	}
}

// needsROCm: where ROCm builds are, it is the build that does not fit; elsewhere the GPU.
func needsROCm(e *evidence.Evidence, out *evidence.Findings, said evidence.Quote) {
	check := say.Either(e.Machine.Platform.OS == "linux" && e.Place.Colab.IsZero(), "PY017", "HW001")
	f := out.Find(check, evidence.Likely.Loose(), e.From.GPU, said).
		Says("the GPU is AMD's: CUDA cannot use it").
		Do("the ROCm build: `envfix plan --build rocm7.2`, where the GPU is supported")
	if e.Machine.Platform.OS == "windows" {
		f.Says("the GPU is AMD's: CUDA cannot use it, and PyTorch's own index has no ROCm build for Windows").
			Do("DirectML: `pip install torch-directml`, in WebUI and ComfyUI the option `--use-directml` or `--directml`",
				"or AMD's own wheels for Windows, where the GPU is of the RX 7000 series or newer: repo.radeon.com",
				"or the CPU: `--skip-torch-cuda-test --no-half` in WebUI, `--cpu` in ComfyUI")
	}
}

// cudaOnIntel: a build for CUDA, or a program that asks for it, and the GPU is Intel's; or
// the build for Intel's GPUs on one that it does not serve.
func cudaOnIntel(e *evidence.Evidence, out *evidence.Findings) {
	g, t := e.GPU().First(machine.Intel), e.Torch
	if g == nil || e.GPU().Of(machine.NVIDIA) {
		return
	}
	if xpu(e) && (strings.Contains(g.Name, "UHD") || strings.Contains(g.Name, "HD Graphics")) {
		out.Find("XPU003", evidence.Proven, e.From.GPU).Say("XPU builds do not serve the " + g.Name)
	}
	said, trouble := noCUDA(e)
	switch {
	case e.GPU().Of(machine.AMD):
	case !e.Pasted && !t.CUDA.IsZero() && e.Fit.Here().Build == "xpu":
		out.Find("PY017", evidence.Proven, t.VersionAt, t.CUDAAt, e.From.GPU).
			Says("torch %s is a CUDA build, and the GPU is Intel's", t.Named())
	case !xpu(e) && (trouble || t.SeesNone()):
		out.Find("HW001", evidence.Likely, e.From.GPU, said).Says("there is only an Intel GPU: CUDA cannot use it").
			Do("Arc, and Core Ultra: the XPU build, `pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/xpu`, and the device `xpu`",
				"an older one (UHD, Iris): the CPU, or another machine")
	}
}

// onlyIntegrated reports whether every GPU of a vendor is a processor's own: the
// discrete one may be unlisted.
func onlyIntegrated(e *evidence.Evidence, vendor string) bool {
	return !slices.ContainsFunc(e.Machine.GPUs, func(g machine.GPU) bool {
		return g.Vendor == vendor && !strings.Contains(g.Name, "Graphics")
	})
}

// rocmTarget: the ROCm build has no kernels for the GPU's target.
func rocmTarget(e *evidence.Evidence, out *evidence.Findings) {
	g := e.GPU().First(machine.AMD)
	label := e.Torch.Label
	if e.Torch.HIP != "" && !strings.HasPrefix(label, "rocm") {
		label = "rocm" + e.Torch.HIP
	}
	if e.Matrix == nil || g == nil || g.GFX == "" || !strings.HasPrefix(label, "rocm") || e.Torch.SeesGPU() && !e.Says.Asks {
		return
	}
	known := false
	for _, r := range e.Matrix.ROCm {
		if r.Label != label {
			continue
		}
		if v := evidence.PythonVersion(e.Torch.Version); !v.IsZero() && !r.Torch.Admits(v) {
			continue
		}
		known = true
		if r.GFX == g.GFX {
			return
		}
	}
	if known {
		out.Find("ROC001", evidence.Likely, e.From.GFX, e.Torch.VersionAt).
			Says("torch for %s has no kernels for %s (%s)", label, g.GFX, g.Name)
	}
}

// unbuilt: where no build of PyTorch has kernels for the GPU, none is told to be named.
func unbuilt(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	g := e.GPU().First(machine.AMD)
	if e.Matrix == nil || g == nil || g.GFX == "" || slices.ContainsFunc(e.Matrix.ROCm, func(r matrix.ROCmTarget) bool { return r.GFX == g.GFX }) {
		return
	}
	way := append(slices.Clone(e.Check("ROC001").Fix[1:]),
		"no build of PyTorch's own has kernels for "+g.GFX+"; AMD's own wheels may, for some; else the CPU, or another GPU")
	for _, f := range found.Of("ROC001") {
		out.Anew(f).Do(way...)
	}
	if said, ok := e.Has("rocm-kfd-missing"); ok && e.Pasted && len(found.Of("ROC001")) == 0 {
		out.Find("ROC001", evidence.Likely, said, e.From.GFX).Says("ROCm and torch have no code for %s (%s)", g.GFX, g.Name).Do(way...).Explaining("ROC002")
	}
}

// xformersCPU: xformers says which torch it found; a +cpu there is the reason.
func xformersCPU(e *evidence.Evidence, out *evidence.Findings) {
	for _, h := range e.Hits {
		if h.Message.ID == "xformers-built-for" && strings.Contains(h.Captures["have"], "+cpu") {
			way := "{torch}"
			if v, label := version.SplitLocal(h.Captures["built"]); e.Matrix != nil && runsHere(e, v, label) {
				way = fmt.Sprintf("`pip install --force-reinstall torch==%s --index-url https://download.pytorch.org/whl/%s`: "+
					"the one that this xformers was built for", v, label)
			}
			out.Find("PY001", evidence.Likely, h.At).
				Say("xformers was built for a torch with CUDA and found a CPU build: " + h.Captures["have"]).
				Do(way)
		}
	}
}

// runsHere reports whether a build of torch has code for the GPU, as far as one is known.
func runsHere(e *evidence.Evidence, torch, label string) bool {
	g := e.GPU().First(machine.NVIDIA)
	b, ok := e.Matrix.BuildOf(torch, label, "linux", "x86_64")
	if !ok || g == nil || g.SM.IsZero() {
		return ok
	}
	native, ptx := e.Matrix.Covers(b.Native, b.PTX, g.SM)
	return native || ptx
}
