package build

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
	"envfix/matrix"
)

// cpuBuild: torch was built without CUDA. Whose fault that is depends on who
// installed it and where. conda's builds carry no label; the wheels that Windows
// gets by default call themselves +cpu.
func cpuBuild(e *evidence.Evidence) (out evidence.Findings) {
	t := e.Torch
	if !t.NoCUDA || t.HIP != "" || e.Machine.Platform.OS == "macos" || xpu(e) {
		return
	}
	if e.CPUByChoice() {
		return
	}
	if !e.Pasted && !e.GPU().Of(machine.NVIDIA) {
		return // a machine without such a GPU is well served by it
	}
	weight := evidence.Proven
	nvidia := e.GPU().Of(machine.NVIDIA) || e.Machine.Driver != nil || !e.SMI.CUDA.IsZero() || len(e.Machine.Toolkits) > 0
	switch _, elsewhere := e.Has(
		"numpy-abi", "vcruntime", "glibc-old", "libstdcxx-old", "mkl-symbol", "mkl-ittnotify",
		"omp-duplicate", "omp-duplicate-dll", "extension-abi", "extension-libtorch",
	); {
	case elsewhere && !e.WantsGPU():
		weight = evidence.Weak // it fails before any GPU is asked for
	case !nvidia:
		weight = evidence.Likely
	}
	if s, pair := e.Has("tv-nms"); pair && !nvidia && !e.WantsGPU() {
		out.Find("PY007", evidence.Likely, s, t.VersionAt) // the CPU build is what was asked for
	}
	text := "this torch was built without CUDA"
	if t.Version != "" {
		text = fmt.Sprintf("torch %s was built without CUDA", t.Named())
	}
	if g := e.GPU().First(machine.NVIDIA); g != nil {
		text += fmt.Sprintf("; it cannot use the %s", g.Name)
	}
	f := evidence.Finding{Text: text, Fix: []string{"{torch}"}}
	said := []evidence.Quote{t.VersionAt, t.CUDAAt, t.AvailableAt}
	switch conda := e.Conda().Package("pytorch"); {
	case e.Machine.Platform.Environment == machine.Jetson:
		out.Find("ARC014", weight, append(said, e.Place.Jetson)...).
			Say(text + "; Jetson needs NVIDIA's own wheel")
	case e.Conda().Made():
		out.Find("PY025", weight, append(said, evidence.Fact("conda's record: %s", e.Files.Conda[0]))...).Say(text).Do("{conda}")
	case conda != nil || t.Label == "" && !e.Place.Conda.IsZero() && (e.Installed("torch") == nil ||
		t.Rank == evidence.ByTorch && e.Machine.Platform.OS == "windows"):
		f.Fix = nil
		if conda != nil {
			said = append(said, conda.At)
		}
		out.Find("PY025", weight, append(said, e.Place.Conda)...).With(f)
	case e.Machine.Platform.Arch == "aarch64" && e.Machine.Platform.OS == "linux" && !offersCUDA(e):
		out.Find("IDX003", weight, append(said, e.From.Arch)...).With(f)
	case !nvidia && (e.GPU().Of(machine.AMD) || e.GPU().Of(machine.Intel)):
		out.Find("PY001", evidence.Strong, said...).With(f)
	default:
		out.Find("PY001", weight, said...).With(f)
	}
	return out
}

// condaWords: somebody says that a CPU build came, and conda is what installed it.
func condaWords(e *evidence.Evidence) (out evidence.Findings) {
	if said := e.Did.CondaInstall; !said.IsZero() && e.Clue("says-cpu-build") && e.Did.PipTorch.IsZero() &&
		e.Torch.Label == "" {
		out.Find("PY025", evidence.Strong.Exact(), said)
	}
	return out
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
	for _, b := range r.Builds {
		if b.OS == e.Machine.Platform.OS && b.Arch == e.Machine.Platform.Arch && !b.CUDA.IsZero() {
			return true
		}
	}
	return false
}

// xpu reports whether an Intel GPU is what it is about.
func xpu(e *evidence.Evidence) bool {
	if e.Torch.Label == "xpu" {
		return true
	}
	_, said := e.Has("xpu-not-available", "ipex-pair")
	return said
}

// vendorBuild: the build is for another vendor's GPU, or there is no GPU that any
// build for CUDA could use.
func vendorBuild(e *evidence.Evidence) (out evidence.Findings) {
	t := e.Torch
	nvidia, amd, intel := e.GPU().Of(machine.NVIDIA), e.GPU().Of(machine.AMD), e.GPU().Of(machine.Intel)
	gpu := e.From.GPU
	cudaTrouble, trouble := e.Has(
		"torch-fp16-cpu", "app-no-gpu", "torch-no-nvidia-driver", "torch-no-gpus", "torch-cpu-build",
		"cuda-no-device", "smi-not-found", "nvml-not-loaded", "no-devices", "torch-not-linked-cuda",
	)
	if !trouble && e.Machine.Platform.OS == "windows" {
		cudaTrouble, trouble = e.Unseen()
	}
	if g := e.GPU().First(machine.Intel); g != nil && !nvidia && xpu(e) && (strings.Contains(g.Name, "UHD") ||
		strings.Contains(g.Name, "HD Graphics")) {
		out.Find("XPU003", evidence.Proven, gpu).Say("XPU builds do not serve the " + g.Name)
	}
	switch {
	case nvidia && t.HIP != "" && !amd:
		out.Find("PY017", evidence.Proven, t.VersionAt, gpu).
			Says("torch %s is the ROCm build, and the GPU is NVIDIA's", t.Named()).
			Do("{torch}")
	case nvidia && !amd && t.HIP == "" && t.Label == "" && t.CUDA.IsZero() && strings.HasPrefix(e.Wanted().Label(), "rocm"):
		out.Find("PY017", evidence.Likely, e.Did.Index, gpu).
			Says("the ROCm build was asked for, and the GPU is NVIDIA's").
			Do("{torch}")
	case amd && !nvidia && !t.CUDA.IsZero() && !onlyIntegrated(e, machine.AMD):
		out.Find("PY017", evidence.Proven, t.VersionAt, t.CUDAAt, gpu).
			Says("torch %s is a CUDA build, and the GPU is AMD's", t.Named())
	case amd && !nvidia && trouble && e.Machine.Driver == nil && e.Place.WSL.IsZero() && t.HIP == "" &&
		e.From.GFX.IsZero() && !strings.Contains(e.Did.Index.Text, "whl/rocm"):
		check := "HW001"
		if e.Machine.Platform.OS == "linux" &&
			e.Place.Colab.IsZero() { // where ROCm builds are: it is the build that does not fit
			check = "PY017"
		}
		f := out.Find(check, evidence.Likely.Loose(), gpu, cudaTrouble).
			Says("the GPU is AMD's: CUDA cannot use it").
			Do("the ROCm build: `envfix plan --build rocm7.2`, where the GPU is supported")
		if e.Machine.Platform.OS == "windows" {
			f.Says("the GPU is AMD's: CUDA cannot use it, and PyTorch's own index has no ROCm build for Windows").
				Do("DirectML: `pip install torch-directml`, in WebUI and ComfyUI the option `--use-directml` or `--directml`",
					"or AMD's own wheels for Windows, where the GPU is of the RX 7000 series or newer: repo.radeon.com",
					"or the CPU: `--skip-torch-cuda-test --no-half` in WebUI, `--cpu` in ComfyUI")
		}
	case amd && !nvidia && trouble && t.HIP == "" && t.Label == "" && strings.Contains(e.Did.Index.Text, "whl/rocm"):
		out.Find("ROC002", evidence.Likely.Loose(), e.Did.Index, gpu, cudaTrouble).
			Says("the ROCm build was asked for, and it sees no GPU")
	case intel && !nvidia && !amd && !e.Pasted && !t.CUDA.IsZero() && e.Fit.Here().Build == "xpu":
		out.Find("PY017", evidence.Proven, t.VersionAt, t.CUDAAt, gpu).
			Says("torch %s is a CUDA build, and the GPU is Intel's", t.Named())
	case intel && !nvidia && !amd && !xpu(e) && (trouble || e.Torch.SeesNone()):
		out.Find("HW001", evidence.Likely, gpu, cudaTrouble).Says("there is only an Intel GPU: CUDA cannot use it").
			Do("Arc, and Core Ultra: the XPU build, `pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/xpu`, and the device `xpu`",
				"an older one (UHD, Iris): the CPU, or another machine")
	case e.GPU().Of(machine.Apple) && !nvidia && trouble && e.Machine.Platform.Arch != "x86_64":
		out.Find("HW001", evidence.Likely, gpu, cudaTrouble).
			Says("Apple's GPU does not run CUDA; PyTorch uses it as the device mps").
			Do("use `device = \"mps\"` in place of `\"cuda\"`")
	}
	rocmTarget(e, &out)
	return out
}

// onlyIntegrated reports whether every GPU of a vendor is a processor's own: the
// discrete one may be unlisted.
func onlyIntegrated(e *evidence.Evidence, vendor string) bool {
	for _, g := range e.Machine.GPUs {
		if g.Vendor == vendor && !strings.Contains(g.Name, "Graphics") {
			return false
		}
	}
	return true
}

// rocmTarget: the ROCm build has no kernels for the GPU's target.
func rocmTarget(e *evidence.Evidence, out *evidence.Findings) {
	g := e.GPU().First(machine.AMD)
	label := e.Torch.Label
	if e.Torch.HIP != "" && !strings.HasPrefix(label, "rocm") {
		label = "rocm" + e.Torch.HIP
	}
	if e.Matrix == nil || g == nil || g.GFX == "" || !strings.HasPrefix(label, "rocm") || e.Torch.SeesGPU() {
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
		f := out.Find("ROC001", evidence.Likely, e.From.GFX, e.Torch.VersionAt).
			Says("torch for %s has no kernels for %s (%s)", label, g.GFX, g.Name)
		if !slices.ContainsFunc(e.Matrix.ROCm, func(r matrix.ROCmTarget) bool { return r.GFX == g.GFX }) {
			f.Do(append(slices.Clone(e.Check("ROC001").Fix[1:]), "no build of PyTorch's own has kernels for it; AMD's own wheels may, for some")...)
		}
	}
}

// xformersCPU: xformers says which torch it found; a +cpu there is the reason.
func xformersCPU(e *evidence.Evidence) (out evidence.Findings) {
	for _, h := range e.Hits {
		if h.Message.ID == "xformers-built-for" && strings.Contains(h.Captures["have"], "+cpu") {
			out.Find("PY001", evidence.Likely, h.At).
				Say("xformers was built for a torch with CUDA and found a CPU build: " + h.Captures["have"]).
				Do("{torch}")
		}
	}
	return out
}

// workingROCm: torch says that it sees the GPU, so that a name of ROCm is no fault.
func workingROCm(e *evidence.Evidence) (out evidence.Findings) {
	if e.Torch.SeesGPU() && e.Torch.HIP != "" && len(e.Hits) == 0 {
		out.Deny("ROC002")
	}
	return out
}
