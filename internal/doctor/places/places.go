package places

import (
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// wsl: under WSL the driver is Windows'. What the usual messages of a missing
// driver mean there is another thing.
func wsl(e *evidence.Evidence, out *evidence.Findings) {
	if e.Machine.Platform.Environment != machine.WSL2 {
		return
	}
	s, ok := e.Has(
		"nvml-mismatch", "nvml-not-loaded", "torch-no-nvidia-driver", "nvml-os-blocked",
		"cudnn-load-libcuda", "libcuda-missing", "torch-unknown-error", "cuda-no-device", "torch-no-gpus",
		"container-cli-driver", "no-devices", "triton-libcuda", "wsl-libcuda", "wsl-dxg", "cuda-804",
		"cuda-803", "cuda-busy", "cudart-insufficient", "cuda-os-call", "torch-init-failed",
	)
	if ok {
		ways := []string{
			"update the NVIDIA driver on Windows, then `wsl --update` and `wsl --shutdown`",
			"where a Linux driver was installed inside WSL: `sudo apt purge 'nvidia-driver-*' 'libnvidia-*'`",
		}
		if !absentWSL().MatchString(s.Text) {
			ways = append(ways, "`export LD_LIBRARY_PATH=/usr/lib/wsl/lib` where libcuda is not found")
		}
		if strings.Contains(s.Text, "libcuda.so:") { // the driver's own file ends in .1: the loader does not look where it is
			slices.Reverse(ways)
		}
		if oldWindows(e, out, s) {
			return
		}
		if e.Torch.SeesGPU() && e.Place.Container.IsZero() {
			out.Deny("ACC001", "DRV001", "DRV002")
			out.Find("CTR015", evidence.Likely, s, e.Torch.AvailableAt).
				Say("torch sees the GPU here, so the driver is in order: the program that says this does not find WSL's CUDA library")
			return
		}
		out.Find("CTR014", evidence.Likely, s, e.Place.WSL).
			Says("under WSL the driver is that of Windows: it is missing, too old, or a Linux driver hides it").
			Do(ways...)
	}
}

var absentWSL = lazy.Regexp(`(?i)(cannot access|no such|not found|missing)[: ']*/usr/lib/wsl/lib`)

// oldLibc: a wheel for a newer C library than the system has.
func oldLibc(e *evidence.Evidence, out *evidence.Findings) {
	if os := e.Machine.Platform.OS; (os == "macos" || os == "windows") && !e.From.OS.IsZero() {
		out.Deny("PY024") // they have no glibc
		return
	}
	libc, said := libc(e)
	if libc.IsZero() {
		return
	}
	if h := e.Hit("wheel-tag"); h != nil {
		if wants := manylinux(h.At.Text); libc.Less(wants) {
			out.Find("PY024", evidence.Likely, said, h.At).Says("this wheel needs glibc %s; here is %s", wants, libc)
			return
		}
	}
	needs := e.Limit("glibc")
	v, _, want := e.Wanted().Torch()
	if !libc.Less(evidence.Dotted(needs.Value)) || want && needs.Before(evidence.PythonVersion(v)) || want &&
		e.Python().Out(v, e.Python().Active()) {
		return
	}
	s, ok := e.Has("wheel-tag", "pip-no-version", "uv-no-platform-wheel")
	if !ok || e.Machine.Platform.Libc == nil && !newWheels().MatchString(s.Text) {
		return
	}
	out.Find("PY024", evidence.Likely, said, s).
		Says("wheels of torch %s and newer, and of much that is built beside it, need glibc %s; here is %s",
			needs.Torch, needs.Value, libc)
}

// newWheels are of packages whose newer wheels want a C library that old systems
// do not have.
var newWheels = lazy.Regexp(`(?i)\b(torch\w*|onnxruntime\S*|vllm|faiss\S*|tensorflow\S*|xformers|triton|` +
	`bitsandbytes|ctranslate2|jax\w*|cupy\S*|deepspeed|sglang|nvidia-\S+)\b`)

// libc is the C library of the machine: what was read, else what its distribution
// is known for. Zero where it is neither, or another kind.
func libc(e *evidence.Evidence) (version.Dotted, evidence.Quote) {
	p := e.Machine.Platform
	if l := p.Libc; l != nil {
		if l.Kind != "glibc" || p.OS == "windows" || p.OS == "macos" {
			return version.Dotted{}, evidence.Quote{}
		}
		return l.Version, e.From.Libc
	}
	for _, known := range e.Limit("distro-glibc").Values {
		if f := strings.Fields(known); len(f) == 3 && f[0] == p.Distro && (f[1] == p.DistroVersion ||
			strings.HasPrefix(p.DistroVersion, f[1]+".")) {
			return evidence.Dotted(f[2]), e.From.OS
		}
	}
	return version.Dotted{}, evidence.Quote{}
}

var manylinuxTag = lazy.Regexp(`manylinux_(\d+)_(\d+)|manylinux(2014|2010|1)\b`)

// manylinux is the oldest C library that a wheel runs with, by its name (PEP 600);
// zero where the name does not say it.
func manylinux(name string) version.Dotted {
	oldest := version.Dotted{}
	for _, m := range manylinuxTag().FindAllStringSubmatch(name, -1) {
		v := map[string]string{"2014": "2.17", "2010": "2.12", "1": "2.5", "": m[1] + "." + m[2]}[m[3]]
		if d := evidence.Dotted(v); oldest.IsZero() || d.Less(oldest) {
			oldest = d
		}
	}
	return oldest
}

// oldWindows: GPUs in WSL 2 begin with a release of Windows 10, whatever the driver.
// Source: docs.nvidia.com, CUDA on WSL user guide; learn.microsoft.com, GPU acceleration in WSL.
func oldWindows(e *evidence.Evidence, out *evidence.Findings, said evidence.Quote) bool {
	least := evidence.Atoi(e.Limit("wsl-windows").Values[0])
	build := e.Place.WindowsBuild
	if build == 0 || build >= least {
		return false
	}
	out.Find("CTR014", evidence.Likely.Exact(), e.Place.WindowsBuildAt, said, e.Place.WSL).
		Says("this Windows is build %d, and WSL gives its Linux a GPU from build %d (Windows 10 21H2) on, or with Windows 11", build, least).
		Do("Windows Update, until `winver` says 21H2 or newer",
			"then `wsl --update`; where `wsl -l -v` says version 1: `wsl --set-version Ubuntu 2`, with the name that it lists",
			"the NVIDIA driver is Windows' own: none is installed within WSL")
	return true
}
