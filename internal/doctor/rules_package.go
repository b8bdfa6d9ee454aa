package doctor

import (
	"fmt"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/matrix"
)

// packageRules look at the packages of the environment.
var packageRules = []rule{
	{[]string{"PY007", "PY032"}, "the versions of torch, torchvision and torchaudio", (*exam).companions},
	{[]string{"PY004", "PY005", "PY011"}, "several entries of torch, and where it was imported from", (*exam).copies},
	{[]string{"PY008"}, "numpy and torch", (*exam).numpy},
	{[]string{"PY007", "ROC002"}, "a ROCm library beside a CUDA torch", (*exam).rocmCompanion},
	{[]string{"LD012"}, "onnxruntime-gpu, what lies beside it, and the CPU that is used", (*exam).onnx},
	{[]string{"TK004", "LD016"}, "nvcc and torch's CUDA while something is built", (*exam).toolkit},
}

// companions: torchvision and torchaudio of another release, or of another CUDA.
func (e *exam) companions() {
	if e.Torch.Version == "" {
		return
	}
	var release *matrix.Release
	if e.Matrix != nil {
		release, _ = e.Matrix.Release(e.Torch.Version)
	}
	for _, name := range []string{"torchvision", "torchaudio"} {
		p := e.Installed(name)
		if p == nil || p.Channel != "" && p.Channel != "pypi" {
			continue
		}
		have, label := version.SplitLocal(p.Version)
		w := weak - 2 // beside any other sign it is not what the matter is about
		if _, said := e.has("tv-nms", "tv-cuda-major", "ta-lib", "torch-cuda-lib", "extension-abi"); said {
			w = likely
		}
		if nightly(e.Torch.Version) != nightly(have) && !strings.Contains(have, "a0") &&
			!strings.Contains(e.Torch.Version, "a0") {
			e.find("PY032", w, p.At, e.Torch.VersionAt).
				says("torch %s and %s %s are of different channels", e.Torch.Version, name, have)
			continue
		}
		if release != nil && e.Torch.Rank >= read.ByLabel {
			if want, ok := release.Companions[name]; ok && !want.IsZero() && want.String() != have &&
				!sameMinor(want.String(), have) {
				e.find("PY007", w, p.At, e.Torch.VersionAt).
					says("%s %s does not go with torch %s; %s %s does", name, have, e.Torch.Version, name, want).
					fix("{pair}", fmt.Sprintf("`pip install %s==%s` from the index of torch", name, want)).
					mend(e.rebuild(p.Path + "/"))
				continue
			}
		}
		if label != "" && e.Torch.Label != "" && label != e.Torch.Label && !e.Torch.NoCUDA &&
			!strings.HasPrefix(label, "git") {
			e.find("PY007", w+5, p.At, e.Torch.VersionAt).
				says("%s is built for %s and torch for %s", name, label, e.Torch.Label).
				mend(e.rebuild(p.Path + "/"))
		}
	}
}

// userSite is where `pip install --user` puts packages, before those of an
// environment (PEP 370).
var userSite = lazy.Regexp(`(?i)/\.local/lib/python3\.\d+/|\\AppData\\Roaming\\Python\\`)

func nightly(v string) bool { return strings.Contains(v, ".dev") }

func sameMinor(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	return len(x) > 1 && len(y) > 1 && x[0] == y[0] && x[1] == y[1]
}

// copies: the torch that is imported is not the one that the package manager
// lists, or two managers brought one each.
func (e *exam) copies() {
	t := e.Torch
	conda := e.condaPackage("pytorch")
	pip := e.pipPackage("torch")
	if conda != nil && pip != nil && read.Public(pip.Version) != read.Public(conda.Version) {
		e.find("PY005", likely, conda.At, pip.At).
			says("torch is there twice: %s by conda and %s by pip", conda.Version, pip.Version)
	}
	if t.Path != "" && userSite().MatchString(t.Path) && conda != nil && t.Version != "" &&
		read.Public(conda.Version) != t.Version {
		e.find("PY004", proven, t.VersionAt, conda.At).
			says("torch %s of the user site is imported, not conda's %s", t.Version, conda.Version).
			explains("PY001", "PY016", "PY025")
	}
	if n := e.condaPackage("pytorch-nightly"); n != nil && conda != nil {
		e.find("PY005", likely, conda.At, n.At).
			says("conda has pytorch %s and pytorch-nightly %s in one environment", conda.Version, n.Version)
	}
	if t.Rank == read.ByTorch && pip != nil && conda == nil && t.Version != "" &&
		read.Public(pip.Version) != t.Version && !strings.Contains(t.Version, "a0") {
		e.find("PY011", likely-5, t.VersionAt, pip.At).
			says("torch says that it is %s, and the list of packages has %s", t.Version, pip.Version)
	}
}

func (e *exam) pipPackage(name string) *read.Package {
	for i := range e.Packages {
		if p := &e.Packages[i]; p.Name == name && (p.Tool == "pip" || p.Channel == "pypi") &&
			!strings.HasPrefix(p.At.Text, "Successfully") {
			return p
		}
	}
	return nil
}

// numpy: an older torch was built against NumPy 1.
func (e *exam) numpy() {
	p, l := e.Installed("numpy"), e.limit("numpy-2")
	if p == nil || pythonVersion(p.Version).Compare(pythonVersion(l.Value)) < 0 ||
		!l.Before(pythonVersion(e.Torch.Version)) {
		return
	}
	e.find("PY008", weak, p.At, e.Torch.VersionAt).
		says("torch %s was built against NumPy 1, and numpy is %s", e.Torch.Version, p.Version).
		fix(fmt.Sprintf("`pip install \"numpy<2\"`, or torch %s or newer", l.Torch))
}

// rocmCompanion: a library of ROCm is missing beside a CUDA torch: the companion
// was taken from the ROCm build.
func (e *exam) rocmCompanion() {
	s, ok := e.has("torch-hip-lib")
	if ok && e.vendor(machine.AMD) && !e.vendor(machine.NVIDIA) && !strings.Contains(s.Text, "torch_hip") {
		e.find("ROC002", likely, s, e.From.GPU).explains("PY007")
		return
	}
	if ok && !e.vendor(machine.AMD) && (!e.Torch.CUDA.IsZero() || e.Installed("torchaudio") != nil ||
		strings.Contains(s.Text, "torchaudio")) {
		e.find("PY007", likely, s, e.Torch.VersionAt).says("a companion of torch is the ROCm build")
	}
}

// toolkit: nvcc's major is not torch's, while something is built.
func (e *exam) toolkit() {
	s, building := e.has("build-failed-ext", "cuda-home-bad", "cuda-home-unset", "nvcc-arch")
	w := likely
	if !building {
		s, w = e.Did.Building, hint
	}
	if s.IsZero() || e.Torch.CUDA.IsZero() {
		return
	}
	for _, k := range e.Machine.Toolkits {
		if k.Version.Major() != e.Torch.CUDA.Major() {
			e.find("TK004", w, e.From.Toolkit, e.Torch.CUDAAt, s).
				says("nvcc is of CUDA %s and torch of %s", k.Version.MajorMinor(), e.Torch.CUDA.MajorMinor())
			return
		}
	}
}

// onnx: the package onnxruntime writes the same files as onnxruntime-gpu; and that one alone
// falls back to the CPU without a word where CUDA is another than its own.
// Source: onnxruntime.ai, CUDA execution provider, requirements; install.
func (e *exam) onnx() {
	gpu, cpu := e.Installed("onnxruntime-gpu"), e.Installed("onnxruntime")
	_, told := e.has("onnx-cpu", "onnx-provider")
	said := e.Says.NotSeen
	if said.IsZero() {
		said = e.Says.Unseen
	}
	if gpu == nil || !e.Pasted || told || said.IsZero() {
		return
	}
	if cpu != nil {
		e.find("LD012", likely, gpu.At, cpu.At, said).
			text("onnxruntime lies over onnxruntime-gpu: both write the same files, and the one for the CPU is loaded").
			fix("`pip uninstall -y onnxruntime onnxruntime-gpu`, then `pip install onnxruntime-gpu`: one of the two alone").
			explains("GPU001", "PY001", "DRV005")
		return
	}
	e.find("LD012", strong, gpu.At, said).
		says("onnxruntime-gpu %s computes with the CUDA and cuDNN that it was built for, and takes the CPU without a word where they are not here", gpu.Version).
		fix("`pip install -U \"onnxruntime-gpu[cuda,cudnn]\"`: built for CUDA 12, and brings it along (driver 525 or newer)",
			"an older driver or CUDA: the release that is for it, by the table at onnxruntime.ai, \"CUDA Execution Provider\"").
		explains("GPU001", "PY001")
}
