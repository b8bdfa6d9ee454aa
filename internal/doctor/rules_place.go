package doctor

import (
	"fmt"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// placeRules look at containers, WSL and other systems.
var placeRules = []rule{
	{[]string{"CTR011"}, "error 803 or 804, and a container or a compatibility library", (*exam).compat},
	{[]string{"CTR014"}, "WSL and a driver's message", (*exam).wsl},
	{[]string{"CTR020"}, "the container runtime's configuration", (*exam).noCgroups},
	{[]string{"CTR009", "CTR022"}, "NVIDIA_VISIBLE_DEVICES and NVIDIA_DRIVER_CAPABILITIES", (*exam).containerVariables},
	{[]string{"MPS002"}, "a Mac, its architecture and Python's", (*exam).apple},
	{[]string{"PY024"}, "the C library and what failed", (*exam).oldLibc},
	{[]string{"ROC004"}, "an AMD GPU that the kernel's compute driver refuses", (*exam).kfd},
}

// compat: error 803 in a container is the image's own libcuda before the host's;
// on a host it is half an upgrade.
func (e *exam) compat() {
	s, ok := e.has("cuda-803")
	if !ok || e.Machine.Platform.Environment != machine.Container {
		return
	}
	if e.From.Module.IsZero() || e.clue("compat-path") {
		e.find("CTR011", likely-5, s, e.Place.Container)
	}
}

// wsl: under WSL the driver is Windows'. What the usual messages of a missing
// driver mean there is another thing.
func (e *exam) wsl() {
	if e.Machine.Platform.Environment != machine.WSL2 {
		return
	}
	s, ok := e.has(
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
		if e.oldWindows(s) {
			return
		}
		e.find("CTR014", likely, s, e.Place.WSL).
			says("under WSL the driver is that of Windows: it is missing, too old, or a Linux driver hides it").
			fix(ways...)
	}
}

var absentWSL = lazy.Regexp(`(?i)(cannot access|no such|not found|missing)[: ']*/usr/lib/wsl/lib`)

// noCgroups: the switch for rootless containers, set on a host that is not.
func (e *exam) noCgroups() {
	if s := e.Containers.NoCgroups; !s.IsZero() {
		e.find("CTR020", likely, s).
			says("no-cgroups decides whether containers may open the GPU's devices: true is for rootless ones only").
			fix(
				"`no-cgroups = false` in /etc/nvidia-container-runtime/config.toml and restart docker; for rootless: true, or CDI",
			)
	}
}

func (e *exam) containerVariables() {
	v, set := e.Machine.Env["NVIDIA_VISIBLE_DEVICES"]
	if set && (v == "" || v == "void" || v == "none") {
		e.find("CTR022", likely, e.From.Env["NVIDIA_VISIBLE_DEVICES"]).
			text("NVIDIA_VISIBLE_DEVICES is " + quote(v) + ": the container gets no GPU")
	}
	c, set := e.Machine.Env["NVIDIA_DRIVER_CAPABILITIES"]
	if set && c != "" && !strings.Contains(c, "compute") && !strings.Contains(c, "all") {
		e.find("CTR009", likely, e.From.Env["NVIDIA_DRIVER_CAPABILITIES"]).
			text("NVIDIA_DRIVER_CAPABILITIES is " + quote(c) + ", without compute")
	}
}

func quote(s string) string { return fmt.Sprintf("%q", s) }

// apple: an x86_64 Python on a Mac with Apple's own processor.
func (e *exam) apple() {
	p := e.Machine.Platform
	if p.OS != "macos" {
		return
	}
	silicon := e.vendor(machine.Apple) || e.clue("apple-rosetta")
	py := e.From.PythonArch
	if silicon && (strings.Contains(strings.ToLower(py.Text), "x86_64") || p.Arch == "x86_64") {
		e.find("MPS002", proven, py, e.From.Arch, e.From.GPU)
	}
}

// oldLibc: a wheel for a newer C library than the system has.
func (e *exam) oldLibc() {
	if os := e.Machine.Platform.OS; (os == "macos" || os == "windows") && !e.From.OS.IsZero() {
		e.drop("PY024") // they have no glibc
		return
	}
	libc, said := e.libc()
	if libc.IsZero() {
		return
	}
	if h := e.hit("wheel-tag"); h != nil {
		if wants := manylinux(h.At.Text); libc.Less(wants) {
			e.find("PY024", likely, said, h.At).says("this wheel needs glibc %s; here is %s", wants, libc)
			return
		}
	}
	needs := e.limit("glibc")
	v, _, want := e.asked()
	if !libc.Less(dotted(needs.Value)) || want && needs.Before(pythonVersion(v)) || want &&
		e.pythonOut(v, e.activePython()) {
		return
	}
	s, ok := e.has("wheel-tag", "pip-no-version", "uv-no-platform-wheel")
	if !ok || e.Machine.Platform.Libc == nil && !newWheels().MatchString(s.Text) {
		return
	}
	e.find("PY024", likely, said, s).
		says("wheels of torch %s and newer, and of much that is built beside it, need glibc %s; here is %s",
			needs.Torch, needs.Value, libc)
}

// newWheels are of packages whose newer wheels want a C library that old systems
// do not have.
var newWheels = lazy.Regexp(`(?i)\b(torch\w*|onnxruntime\S*|vllm|faiss\S*|tensorflow\S*|xformers|triton|` +
	`bitsandbytes|ctranslate2|jax\w*|cupy\S*|deepspeed|sglang|nvidia-\S+)\b`)

// libc is the C library of the machine: what was read, else what its distribution
// is known for. Zero where it is neither, or another kind.
func (e *exam) libc() (version.Dotted, read.Evidence) {
	p := e.Machine.Platform
	if l := p.Libc; l != nil {
		if l.Kind != "glibc" || p.OS == "windows" || p.OS == "macos" {
			return version.Dotted{}, read.Evidence{}
		}
		return l.Version, e.From.Libc
	}
	for _, known := range e.limit("distro-glibc").Values {
		if f := strings.Fields(known); len(f) == 3 && f[0] == p.Distro && (f[1] == p.DistroVersion ||
			strings.HasPrefix(p.DistroVersion, f[1]+".")) {
			return dotted(f[2]), e.From.OS
		}
	}
	return version.Dotted{}, read.Evidence{}
}

var manylinuxTag = lazy.Regexp(`manylinux_(\d+)_(\d+)|manylinux(2014|2010|1)\b`)

// manylinux is the oldest C library that a wheel runs with, by its name (PEP 600);
// zero where the name does not say it.
func manylinux(name string) version.Dotted {
	oldest := version.Dotted{}
	for _, m := range manylinuxTag().FindAllStringSubmatch(name, -1) {
		v := map[string]string{"2014": "2.17", "2010": "2.12", "1": "2.5", "": m[1] + "." + m[2]}[m[3]]
		if d := dotted(v); oldest.IsZero() || d.Less(oldest) {
			oldest = d
		}
	}
	return oldest
}

// kfd: the kernel says that it does not support the GPU; the errors that follow
// speak of memory or permission.
func (e *exam) kfd() {
	if s, ok := e.has("rocm-kfd-unsupported"); ok {
		e.find("ROC004", proven, s, e.From.GPU)
	}
}
