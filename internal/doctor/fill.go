package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/matrix"
)

// A blank is a word of a remedy that stands for a fact of this machine. Where the fact
// is not known, the remedy is left out, or what it then says takes its place.
type blank struct {
	word  string
	value func(e *exam, evidence []string) string
	none  string // the remedy where the value is unknown; "" none
}

// blanks are all of them.
var blanks = []blank{
	{"{gpu}", (*exam).gpuNumber, ""},
	{"{torch-here}", func(e *exam, _ []string) string { return e.torchAgain() }, ""},
	{"{driver-major}", (*exam).driverMajor, ""},
	{"{driver-cuda}", (*exam).driverCUDA, ""},
	{"{nccl}", (*exam).ncclOfTorch, ""},
	{
		"{fabric-manager}", (*exam).fabricManager,
		"install it in the exact version of the driver: the package is nvidia-fabricmanager and the branch that `nvidia-smi` shows, " +
			"such as `sudo apt install nvidia-fabricmanager-570`",
	},
	{"{open-branch}", (*exam).openBranch, ""},
	{"{conda-cuda}", (*exam).condaCUDA, ""},
	{"{xformers}", (*exam).xformersOfTorch, ""},
	{"{cpuonly}", (*exam).holdsCPU, ""},
	{"{toolkit-dashed}", func(e *exam, _ []string) string { return strings.ReplaceAll(e.toolkitOf(nil), ".", "-") }, ""},
	{"{toolkit}", (*exam).toolkitOf, ""},
	{"{gfx-override}", (*exam).gfxOverride, ""},
	{
		"{extension}", (*exam).extensionNamed,
		"install the wheel of that package for this torch, Python and C++ ABI, or compile it here: " +
			"`pip install` with `--no-build-isolation --force-reinstall --no-deps`",
	},
}

// fill puts what is known into a remedy.
func (e *exam) fill(way string, evidence []string) string {
	for _, b := range blanks {
		if !strings.Contains(way, b.word) {
			continue
		}
		v := b.value(e, evidence)
		if v == "" {
			return b.none
		}
		way = strings.ReplaceAll(way, b.word, v)
	}
	return way
}

var pciAddress = lazy.Regexp(`(?i)\b(?:PCI:)?((?:[0-9a-f]{4}|[0-9a-f]{8}):[0-9a-f]{2}:[0-9a-f]{2})\b`)

// gpuNumber is how nvidia-smi is told which GPU is meant: by the address that the
// evidence names, else by its index; 0 where there is but one, or nothing says which.
func (e *exam) gpuNumber(evidence []string) string {
	for _, s := range evidence {
		if m := pciAddress().FindStringSubmatch(s); m != nil && strings.Contains(s, "Xid") {
			return m[1] + ".0"
		}
		if m := gpuIndex().FindStringSubmatch(s); m != nil {
			return m[1]
		}
	}
	return "0"
}

var gpuIndex = lazy.Regexp(`\bGPU ?(\d{1,2})\b`)

// driverMajor is the branch of the driver: 580.
func (e *exam) driverMajor([]string) string {
	if d := e.Machine.Driver; d != nil && !d.Version.IsZero() {
		return fmt.Sprint(d.Version.Major())
	}
	return ""
}

// driverCUDA is the CUDA that the driver runs, as nvidia-smi prints it.
func (e *exam) driverCUDA([]string) string {
	if !e.SMI.CUDA.IsZero() {
		return e.SMI.CUDA.MajorMinor()
	}
	if d := e.Machine.Driver; d != nil && e.Matrix != nil {
		for _, b := range e.Matrix.Branches {
			if b.Latest.Major() == d.Version.Major() && !b.CUDA.IsZero() {
				return b.CUDA.MajorMinor()
			}
		}
	}
	return ""
}

// fabricManager is how to install the fabric manager of the driver's branch.
func (e *exam) fabricManager([]string) string {
	if branch := e.driverMajor(nil); branch != "" {
		return "`sudo apt install nvidia-fabricmanager-" + branch + "`, in the exact version of the driver"
	}
	return ""
}

// condaCUDA is the CUDA that conda is told the driver runs, where it cannot ask itself.
func (e *exam) condaCUDA([]string) string {
	return cmp.Or(e.driverCUDA(nil), e.limit("usual-machine").Values[0])
}

// xformersOfTorch installs the xformers whose release names the torch that is here.
func (e *exam) xformersOfTorch([]string) string {
	v, label := e.Torch.Version, e.Torch.Label
	for _, h := range e.Hits {
		if have := h.Captures["have"]; h.Message.ID == "xformers-built-for" && have != "" {
			v, label = version.SplitLocal(have)
		}
	}
	torch := pythonVersion(v)
	if e.Matrix == nil || torch.IsZero() || !strings.HasPrefix(label, "cu") {
		return ""
	}
	for _, x := range e.Matrix.Extensions { // the newest first
		if x.Package == "xformers" && !x.Sdist && !x.Yanked && !x.Torch.IsZero() && strings.Contains(x.Torch.String(), "==") && x.Torch.Admits(torch) {
			return fmt.Sprintf("`pip install --force-reinstall --no-deps xformers==%s --index-url https://download.pytorch.org/whl/%s`: the release for torch %s",
				x.Version, label, v)
		}
	}
	return ""
}

// holdsCPU takes away the package of conda that lets no build with CUDA in.
func (e *exam) holdsCPU(evidence []string) string {
	if e.condaPackage("cpuonly") != nil || slices.ContainsFunc(evidence, func(s string) bool { return strings.Contains(s, "cpuonly ") }) {
		return "`conda remove cpuonly` first: it lets no build with CUDA in, and another package may have asked for it"
	}
	return ""
}

// toolkitOf is the CUDA that torch was built with, which what is compiled beside it wants too.
func (e *exam) toolkitOf([]string) string {
	if !e.Torch.CUDA.IsZero() {
		return e.Torch.CUDA.MajorMinor()
	}
	return e.limit("usual-machine").Values[0]
}

// openBranch is the branch of the driver that is there, else the newest whose packages
// distributions have.
func (e *exam) openBranch([]string) string { return cmp.Or(e.driverMajor(nil), "580") }

// gfxOverride is the architecture whose kernels an AMD GPU of the same family runs.
func (e *exam) gfxOverride([]string) string {
	for _, g := range e.Machine.GPUs {
		for _, row := range e.limit("gfx-override").Values {
			if f := strings.Fields(row); g.GFX != "" && slices.Contains(f[1:], g.GFX) {
				return f[0]
			}
		}
	}
	return ""
}

// ncclOfTorch is the package of NCCL that torch asks for, where its files are here.
func (e *exam) ncclOfTorch([]string) string {
	if e.Files == nil {
		return ""
	}
	for _, d := range e.Files.Dists {
		if d.Name != "torch" {
			continue
		}
		for _, r := range d.Requires {
			if m := ncclPin().FindStringSubmatch(r); m != nil {
				return m[1] + "==" + m[2]
			}
		}
	}
	return ""
}

var ncclPin = lazy.Regexp(`^(nvidia-nccl-cu\d+)\s*\(?==\s*([\d.]+)`)

// extensionsByModule are the packages of compiled modules that people meet.
var extensionsByModule = map[string]string{
	"flash_attn_2_cuda": "flash-attn", "flash_attn": "flash-attn", "flashattn_hopper_cuda": "flash-attn", "xformers": "xformers",
	"vllm": "vllm", "mamba_ssm": "mamba-ssm", "selective_scan_cuda": "mamba-ssm", "causal_conv1d_cuda": "causal-conv1d",
	"causal_conv1d": "causal-conv1d", "torch_scatter": "torch-scatter", "torch_sparse": "torch-sparse", "torch_cluster": "torch-cluster",
	"torch_spline_conv": "torch-spline-conv", "pyg_lib": "pyg-lib", "torchvision": "torchvision", "torchaudio": "torchaudio",
	"apex_C": "apex", "amp_C": "apex", "deepspeed": "deepspeed", "detectron2": "detectron2", "mmcv": "mmcv", "torchcodec": "torchcodec",
	"bitsandbytes": "bitsandbytes", "sageattention": "sageattention", "auto_gptq": "auto-gptq", "exllamav2_ext": "exllamav2",
	"pytorch3d": "pytorch3d", "spconv": "spconv", "natten": "natten", "transformer_engine_extensions": "transformer-engine", "transformer_engine_torch": "transformer-engine", "gsplat": "gsplat", "nvdiffrast": "nvdiffrast",
}

// extensionNamed is the package of the compiled module that the evidence names.
func (e *exam) extensionNamed(evidence []string) string {
	for _, s := range evidence {
		for _, m := range moduleFile().FindAllStringSubmatch(s, 4) {
			for _, part := range slices.Backward(strings.FieldsFunc(m[1], func(r rune) bool { return r == '/' || r == '\\' })) {
				if p := extensionsByModule[part]; p != "" {
					return p
				}
			}
		}
	}
	return ""
}

// moduleFile is the path of a compiled module without its tag and ending.
var moduleFile = lazy.Regexp(`([\w./\\+-]*?\w+)(?:\.cpython-\w+|\.cp\d+-\w+|\.abi3)?[\w.-]*\.(?:so|pyd|dll)\b`)

// companionFix is how to install the companions that are the pair of the torch in place;
// the torch that fits with its companions, where the one in place is not known.
func (e *exam) companionFix() []string {
	if e.Matrix == nil {
		return nil
	}
	if label := e.Torch.Label; e.Torch.Version == "" && strings.HasPrefix(label, "cu") {
		if _, known := e.Matrix.Floor(label); known { // the CUDA alone is told: all of one index fit
			return []string{"`pip install --force-reinstall torch torchvision --index-url https://download.pytorch.org/whl/" + label +
				"`: both from the index of CUDA " + e.Torch.CUDA.MajorMinor()}
		}
	}
	r, ok := e.Matrix.Release(e.Torch.Version)
	if !ok {
		return e.numberedPair()
	}
	os, arch := e.Machine.Platform.OS, e.Machine.Platform.Arch
	if os == "" {
		os = "linux"
	}
	switch {
	case arch == "" && os == "macos":
		arch = "arm64"
	case arch == "":
		arch = "x86_64"
	}
	label := e.Torch.Label
	if e.Torch.NoCUDA && label == "" {
		label = "cpu"
	}
	var b *matrix.Build
	for _, c := range r.Builds {
		if c.OS == os && c.Arch == arch && (c.Label == label || label == "" && c.Default) {
			b = c
		}
	}
	if b == nil {
		return nil
	}
	var words []string
	for _, name := range []string{"torchvision", "torchaudio"} {
		v, there := b.Companion(name)
		if there && (name == "torchvision" || e.Installed(name) != nil || e.saysAudio()) {
			words = append(words, name+"=="+v.String())
		}
	}
	if len(words) == 0 {
		return nil
	}
	command := "`pip install --force-reinstall --no-deps " + strings.Join(words, " ")
	if label != "" && b.Index != "" {
		command += " --index-url " + b.Index
	}
	return []string{command + "`: the pair of torch " + withLabel(e.Torch)}
}

// numberedPair is the pair of a torch before the data begins: torch 1.N.P goes with
// torchaudio 0.N.P and torchvision 0.(N+1).P. Source: pytorch/vision and pytorch/audio,
// READMEs, tables of versions.
func (e *exam) numberedPair() []string {
	m := oldTorch().FindStringSubmatch(e.Torch.Version)
	if m == nil {
		return nil
	}
	minor := read.Atoi(m[1])
	words := fmt.Sprintf("torchvision==0.%d.%s", minor+1, m[2])
	if e.Installed("torchaudio") != nil || e.saysAudio() {
		words += fmt.Sprintf(" torchaudio==0.%d.%s", minor, m[2])
	}
	return []string{"`pip install --force-reinstall --no-deps " + words + "`: the pair of torch " + withLabel(e.Torch)}
}

var oldTorch = lazy.Regexp(`^1\.(7|8|9|1[0-3])\.(\d+)$`)

// saysAudio reports whether a message is about torchaudio.
func (e *exam) saysAudio() bool {
	return slices.ContainsFunc(e.Hits, func(h read.Hit) bool { return strings.Contains(strings.ToLower(h.At.Text), "torchaudio") })
}

// pairOf is the command's words for torch and the torchvision that is its pair.
func (e *exam) pairOf(torch, label string, h machine.Machine) string {
	if r, ok := e.Matrix.Release(torch); ok {
		if b, ok := r.Build(label, h.Platform.OS, h.Platform.Arch); ok {
			pair := "torch==" + torch
			if v, ok := b.Companion("torchvision"); ok {
				pair += " torchvision==" + v.String()
			}
			if v, ok := b.Companion("torchaudio"); ok && (!e.Says.ComfyUI.IsZero() || e.Installed("torchaudio") != nil) {
				pair += " torchaudio==" + v.String() // ComfyUI imports it
			}
			return pair
		}
	}
	return "torch==" + torch + " torchvision"
}
