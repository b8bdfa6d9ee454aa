package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/matrix"
)

// identify takes from the device table what the names of GPUs say.
func (e *exam) identify() {
	e.wholeDriver()
	if e.Devices == nil {
		return
	}
	for i := range e.Machine.GPUs {
		g := &e.Machine.GPUs[i]
		if !g.SM.IsZero() || g.GFX != "" {
			continue
		}
		if d, ok := e.Devices.LookupPCI(g.PCIID, ""); ok && d.Vendor == machine.NVIDIA {
			g.SM = d.SM
			if g.Name == "" {
				g.Name = d.Name
			}
			continue
		}
		if g.Name == "" {
			continue
		}
		found := e.Devices.LookupName(g.Name)
		if len(found) == 0 {
			continue
		}
		// A name sold with several chips: none of them is known to be here.
		if len(found) == 1 && (found[0].Vendor == g.Vendor || g.Vendor == "") {
			g.SM, g.GFX, g.Vendor = found[0].SM, found[0].GFX, found[0].Vendor
		}
	}
}

// buildRules look at what torch was built for.
var buildRules = []rule{
	{[]string{"PY001", "PY016", "PY025", "IDX003", "ARC014"}, "torch's build", (*exam).cpuBuild},
	{
		[]string{"PY017", "HW001", "ROC001", "ROC002", "XPU003"}, "the GPU's vendor and torch's build",
		(*exam).vendorBuild,
	},
	{[]string{"PY001"}, "xformers' warning", (*exam).xformersCPU},
	{[]string{"PY025"}, "conda, and somebody's words that a CPU build came", (*exam).condaWords},
}

// cpuBuild: torch was built without CUDA. Whose fault that is depends on who
// installed it and where. conda's builds carry no label; the wheels that Windows
// gets by default call themselves +cpu.
func (e *exam) cpuBuild() {
	t := e.Torch
	if !t.NoCUDA || t.HIP != "" || e.Machine.Platform.OS == "macos" || e.xpu() {
		return
	}
	if e.cpuByChoice() {
		return
	}
	if !e.Pasted && !e.vendor(machine.NVIDIA) {
		return // a machine without such a GPU is well served by it
	}
	weight := proven
	nvidia := e.vendor(machine.NVIDIA) || e.Machine.Driver != nil || !e.SMI.CUDA.IsZero() || len(e.Machine.Toolkits) > 0
	switch _, elsewhere := e.has(
		"numpy-abi", "vcruntime", "glibc-old", "libstdcxx-old", "mkl-symbol", "mkl-ittnotify",
		"omp-duplicate", "omp-duplicate-dll", "extension-abi", "extension-libtorch",
	); {
	case elsewhere && !e.wantsGPU():
		weight = weak // it fails before any GPU is asked for
	case !nvidia:
		weight = likely
	}
	if s, pair := e.has("tv-nms"); pair && !nvidia && !e.wantsGPU() {
		e.find("PY007", likely, s, t.VersionAt).explains("PY001") // the CPU build is what was asked for
	}
	text := "this torch was built without CUDA"
	if t.Version != "" {
		text = fmt.Sprintf("torch %s was built without CUDA", withLabel(t))
	}
	if g := e.firstGPU(machine.NVIDIA); g != nil {
		text += fmt.Sprintf("; it cannot use the %s", g.Name)
	}
	f := Finding{Text: text, Fix: []string{"{torch}"}}
	said := []read.Evidence{t.VersionAt, t.CUDAAt, t.AvailableAt}
	switch conda := e.condaPackage("pytorch"); {
	case e.Machine.Platform.Environment == machine.Jetson:
		e.find("ARC014", weight, append(said, e.Place.Jetson)...).
			text(text + "; Jetson needs NVIDIA's own wheel")
	case e.byConda():
		e.find("PY025", weight, append(said, fact("conda's record: %s", e.Files.Conda[0]))...).text(text).fix("{conda}")
	case conda != nil || t.Label == "" && !e.Place.Conda.IsZero() && (e.Installed("torch") == nil ||
		t.Rank == read.ByTorch && e.Machine.Platform.OS == "windows"):
		f.Fix = nil
		if conda != nil {
			said = append(said, conda.At)
		}
		e.find("PY025", weight, append(said, e.Place.Conda)...).with(f)
	case e.Machine.Platform.Arch == "aarch64" && e.Machine.Platform.OS == "linux" && !e.offersCUDA():
		e.find("IDX003", weight, append(said, e.From.Arch)...).with(f)
	case !nvidia && (e.vendor(machine.AMD) || e.vendor(machine.Intel)):
		e.find("PY001", strong, said...).with(f)
	default:
		e.find("PY001", weight, said...).with(f)
	}
}

// condaWords: somebody says that a CPU build came, and conda is what installed it.
func (e *exam) condaWords() {
	if said := e.Did.CondaInstall; !said.IsZero() && e.clue("says-cpu-build") && e.Did.PipTorch.IsZero() &&
		e.Torch.Label == "" {
		e.find("PY025", strong+2, said).explains("PY001")
	}
}

// cpuByChoice reports whether there is no GPU by the machine's owner's word, and
// nothing asks for one: a build without CUDA is the right one then.
func (e *exam) cpuByChoice() bool { return !e.Says.NoGPU.IsZero() && !e.wantsGPU() }

// wantsGPU reports whether the text speaks of a GPU that is not used.
func (e *exam) wantsGPU() bool {
	_, said := e.has(append([]string{
		"torch-cpu-build", "torch-not-linked-cuda", "torch-cuda-ext-absent", "yolo-device",
	},
		noDevice...)...)
	return said || e.unavailable()
}

// offersCUDA reports whether this release has a CUDA build for this platform;
// unknown is yes.
func (e *exam) offersCUDA() bool {
	if e.Matrix == nil || e.Torch.Version == "" {
		return true
	}
	r, ok := e.Matrix.Release(e.Torch.Version)
	if !ok {
		return !e.limit("aarch64-cuda").Before(pythonVersion(e.Torch.Version))
	}
	for _, b := range r.Builds {
		if b.OS == e.Machine.Platform.OS && b.Arch == e.Machine.Platform.Arch && !b.CUDA.IsZero() {
			return true
		}
	}
	return false
}

func pythonVersion(s string) version.Python {
	v, _ := version.ParsePython(s)
	return v
}

func withLabel(t read.Torch) string {
	if t.Label == "" || strings.Contains(t.Version, "+") {
		return t.Version
	}
	return t.Version + "+" + t.Label
}

// xpu reports whether an Intel GPU is what it is about.
func (e *exam) xpu() bool {
	if e.Torch.Label == "xpu" {
		return true
	}
	_, said := e.has("xpu-not-available", "ipex-pair")
	return said
}

func (e *exam) firstGPU(vendor string) *machine.GPU {
	for i := range e.Machine.GPUs {
		if e.Machine.GPUs[i].Vendor == vendor {
			return &e.Machine.GPUs[i]
		}
	}
	return nil
}

func (e *exam) condaPackage(name string) *read.Package {
	for i := range e.Packages {
		if p := &e.Packages[i]; p.Name == name && p.Tool == "conda" && p.Channel != "pypi" {
			return p
		}
	}
	return nil
}

// vendorBuild: the build is for another vendor's GPU, or there is no GPU that any
// build for CUDA could use.
func (e *exam) vendorBuild() {
	t := e.Torch
	nvidia, amd, intel := e.vendor(machine.NVIDIA), e.vendor(machine.AMD), e.vendor(machine.Intel)
	gpu := e.From.GPU
	cudaTrouble, trouble := e.has(
		"torch-fp16-cpu", "app-no-gpu", "torch-no-nvidia-driver", "torch-no-gpus", "torch-cpu-build",
		"cuda-no-device", "smi-not-found", "nvml-not-loaded", "no-devices", "torch-not-linked-cuda",
	)
	if !trouble && e.Machine.Platform.OS == "windows" {
		cudaTrouble, trouble = e.unseen()
	}
	if g := e.firstGPU(machine.Intel); g != nil && !nvidia && e.xpu() && (strings.Contains(g.Name, "UHD") ||
		strings.Contains(g.Name, "HD Graphics")) {
		e.find("XPU003", proven, gpu).text("XPU builds do not serve the " + g.Name)
	}
	switch {
	case nvidia && t.HIP != "" && !amd:
		e.find("PY017", proven, t.VersionAt, gpu).
			says("torch %s is the ROCm build, and the GPU is NVIDIA's", withLabel(t)).
			fix("{torch}")
	case nvidia && !amd && t.HIP == "" && t.Label == "" && t.CUDA.IsZero() && strings.HasPrefix(e.indexed(), "rocm"):
		e.find("PY017", likely, e.Did.Index, gpu).
			says("the ROCm build was asked for, and the GPU is NVIDIA's").
			fix("{torch}")
	case amd && !nvidia && !t.CUDA.IsZero() && !e.onlyIntegrated(machine.AMD):
		e.find("PY017", proven, t.VersionAt, t.CUDAAt, gpu).
			says("torch %s is a CUDA build, and the GPU is AMD's", withLabel(t))
	case amd && !nvidia && trouble && e.Machine.Driver == nil && e.Place.WSL.IsZero() && t.HIP == "" &&
		e.From.GFX.IsZero() && !strings.Contains(e.Did.Index.Text, "whl/rocm"):
		check := "HW001"
		if e.Machine.Platform.OS == "linux" &&
			e.Place.Colab.IsZero() { // where ROCm builds are: it is the build that does not fit
			check = "PY017"
		}
		f := e.find(check, likely-5, gpu, cudaTrouble).
			says("the GPU is AMD's: CUDA cannot use it").
			fix("the ROCm build: `envfix plan --build rocm7.2`, where the GPU is supported")
		if e.Machine.Platform.OS == "windows" {
			f.says("the GPU is AMD's: CUDA cannot use it, and PyTorch's own index has no ROCm build for Windows").
				fix("DirectML: `pip install torch-directml`, in WebUI and ComfyUI the option `--use-directml` or `--directml`",
					"or AMD's own wheels for Windows, where the GPU is of the RX 7000 series or newer: repo.radeon.com",
					"or the CPU: `--skip-torch-cuda-test --no-half` in WebUI, `--cpu` in ComfyUI")
		}
	case amd && !nvidia && trouble && t.HIP == "" && t.Label == "" && strings.Contains(e.Did.Index.Text, "whl/rocm"):
		e.find("ROC002", likely-5, e.Did.Index, gpu, cudaTrouble).
			says("the ROCm build was asked for, and it sees no GPU")
	case intel && !nvidia && !amd && !e.Pasted && !t.CUDA.IsZero() && e.chosenBuild() == "xpu":
		e.find("PY017", proven, t.VersionAt, t.CUDAAt, gpu).
			says("torch %s is a CUDA build, and the GPU is Intel's", withLabel(t))
	case intel && !nvidia && !amd && !e.xpu() && (trouble || e.unavailable()):
		e.find("HW001", likely, gpu, cudaTrouble).says("there is only an Intel GPU: CUDA cannot use it").
			fix("Arc, and Core Ultra: the XPU build, `pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/xpu`, and the device `xpu`",
				"an older one (UHD, Iris): the CPU, or another machine")
	case e.vendor(machine.Apple) && !nvidia && trouble && e.Machine.Platform.Arch != "x86_64":
		e.find("HW001", likely, gpu, cudaTrouble).
			says("Apple's GPU does not run CUDA; PyTorch uses it as the device mps").
			fix("use `device = \"mps\"` in place of `\"cuda\"`")
	}
	e.rocmTarget()
}

// onlyIntegrated reports whether every GPU of a vendor is a processor's own: the
// discrete one may be unlisted.
func (e *exam) onlyIntegrated(vendor string) bool {
	for _, g := range e.Machine.GPUs {
		if g.Vendor == vendor && !strings.Contains(g.Name, "Graphics") {
			return false
		}
	}
	return true
}

// rocmTarget: the ROCm build has no kernels for the GPU's target.
func (e *exam) rocmTarget() {
	g := e.firstGPU(machine.AMD)
	label := e.Torch.Label
	if e.Torch.HIP != "" && !strings.HasPrefix(label, "rocm") {
		label = "rocm" + e.Torch.HIP
	}
	if e.Matrix == nil || g == nil || g.GFX == "" || !strings.HasPrefix(label, "rocm") || e.available() {
		return
	}
	known := false
	for _, r := range e.Matrix.ROCm {
		if r.Label != label {
			continue
		}
		if v := pythonVersion(e.Torch.Version); !v.IsZero() && !r.Torch.Admits(v) {
			continue
		}
		known = true
		if r.GFX == g.GFX {
			return
		}
	}
	if known {
		f := e.find("ROC001", likely, e.From.GFX, e.Torch.VersionAt).
			says("torch for %s has no kernels for %s (%s)", label, g.GFX, g.Name)
		if !slices.ContainsFunc(e.Matrix.ROCm, func(r matrix.ROCmTarget) bool { return r.GFX == g.GFX }) && len(f.Fix) > 1 {
			f.fix(append(slices.Clone(f.Fix[1:]), "no build of PyTorch's own has kernels for it; AMD's own wheels may, for some")...)
		}
	}
}

// xformersCPU: xformers says which torch it found; a +cpu there is the reason.
func (e *exam) xformersCPU() {
	for _, h := range e.Hits {
		if h.Message.ID == "xformers-built-for" && strings.Contains(h.Captures["have"], "+cpu") {
			e.find("PY001", likely, h.At).
				text("xformers was built for a torch with CUDA and found a CPU build: " + h.Captures["have"]).
				fix("{torch}")
		}
	}
}

// planCommand asks envfix for this very machine.
func (e *exam) planCommand() string {
	words := []string{"envfix", "plan"}
	if !e.Pasted {
		return join(words...)
	}
	for i, g := range e.Machine.GPUs {
		if i < 4 && g.Vendor == machine.NVIDIA && !g.SM.IsZero() && !slices.Contains(words, g.SM.String()) {
			words = append(words, "--gpu", g.SM.String())
		}
	}
	if d := e.Machine.Driver; d != nil && !d.Version.IsZero() {
		words = append(words, "--driver", d.Version.String())
	}
	if os := e.Machine.Platform.OS; os != "" && os != "linux" {
		words = append(words, "--os", os)
	}
	if arch := e.Machine.Platform.Arch; arch == "aarch64" && e.Machine.Platform.OS == "linux" {
		words = append(words, "--arch", arch)
	}
	return join(words...)
}

// build returns the build of the matrix that is installed.
func (e *exam) build() (*matrix.Build, bool) {
	if e.Matrix == nil || e.Torch.Version == "" || e.Torch.CUDA.IsZero() {
		return nil, false
	}
	r, ok := e.Matrix.Release(e.Torch.Version)
	if !ok {
		return nil, false
	}
	p := e.Machine.Platform
	label := "cu" + strings.ReplaceAll(e.Torch.CUDA.MajorMinor(), ".", "")
	return r.Build(label, cmp.Or(p.OS, "linux"), cmp.Or(p.Arch, "x86_64"))
}
