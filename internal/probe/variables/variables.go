package variables

import (
	"bytes"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
)

// Tracked are the variables whose setting is looked for.
var Tracked = lazy.Regexp("^(?:" + machine.OneValue + ")$")

// OfShell reads what is set of them in this shell, and where.
func OfShell(h *sysroot.Host) (out []machine.Variable) {
	from := &Origins{Host: h}
	for name, value := range h.Env {
		if Tracked().MatchString(name) && !envSecret().MatchString(name) && len(value) < 4096 {
			out = append(out, machine.Variable{Name: name, Value: Redact(value), Origins: from.ofValue(name, value)})
		}
	}
	slices.SortFunc(out, func(a, b machine.Variable) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// A line of Python that sets a variable whatever happens: it is not indented.
var environLine = lazy.Regexp(`(?m)(?:^|^import [\w, ]+; *)os\.(?:environ\[ *["'](\w+)["'] *\] *= *|putenv\( *["'](\w+)["'] *, *|environ\.setdefault\( *["'](\w+)["'] *, *)["']([^"'\n]*)["']`)

// InPython are the variables that code of Python sets; text is what sets one that has no
// value alone.
func InPython(code []byte) (out []Assignment) {
	for _, m := range environLine().FindAllSubmatchIndex(code, 20) {
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text.Printable(string(code[m[2*i]:m[2*i+1]]))
		}
		out = append(out, Assignment{Variable: group(1) + group(2) + group(3), Value: group(4), Text: group(3), Line: 1 + bytes.Count(code[:m[0]], []byte("\n"))})
	}
	return out
}

// ofValue returns where a variable gets a value, the most particular place first.
func (o *Origins) ofValue(variable, value string) (out []machine.Origin) {
	if out = o.inLines(variable, func(l setLine) bool { return l.Value == value }); len(out) == 0 {
		out = ownState(o.Host, variable, func(v string, set bool) bool { return set && v == value })
	}
	return out
}

// The environment variables that change what Python, an installer or a GPU
// library does. The rest of the environment is nobody's business.
var (
	envNames = map[string]bool{
		"LD_LIBRARY_PATH": true, "LD_PRELOAD": true, "LD_BIND_NOW": true, "DYLD_LIBRARY_PATH": true, "PATH": true,
		"VIRTUAL_ENV": true, "CONDA_PREFIX": true, "CONDA_DEFAULT_ENV": true, "CONDA_EXE": true, "CONDA_OVERRIDE_CUDA": true, "CONDA_CHANNELS": true, "CONDA_PKGS_DIRS": true, "MAMBA_EXE": true, "MAMBA_ROOT_PREFIX": true,
		"PYTHONPATH": true, "PYTHONHOME": true, "__PYVENV_LAUNCHER__": true, "PYTHONNOUSERSITE": true, "PYTHONPLATLIBDIR": true, "PYTHONUSERBASE": true, "PYTHONSAFEPATH": true, "PYENV_VERSION": true, "PYENV_ROOT": true,
		"http_proxy": true, "https_proxy": true, "no_proxy": true, "all_proxy": true, "HTTP_PROXY": true, "HTTPS_PROXY": true, "NO_PROXY": true, "ALL_PROXY": true,
		"SSL_CERT_FILE": true, "SSL_CERT_DIR": true, "REQUESTS_CA_BUNDLE": true, "CURL_CA_BUNDLE": true,
		"CC": true, "CXX": true, "CUDAHOSTCXX": true, "TORCH_CUDA_ARCH_LIST": true, "TORCH_DISTRIBUTED_DEBUG": true, "TORCH_LOGS": true,
		"TORCH_HOME": true, "TORCHINDUCTOR_CACHE_DIR": true, "XLA_FLAGS": true, "OMP_NUM_THREADS": true,
		"WSL_DISTRO_NAME": true, "JETSON_JETPACK": true,
		"GPU_DEVICE_ORDINAL": true, "ZE_AFFINITY_MASK": true, "ONEAPI_DEVICE_SELECTOR": true,
	}
	envPrefixes = []string{"CUDA_", "NVIDIA_", "HIP_", "HSA_", "ROCR_", "ROCM_", "NCCL_", "PYTORCH_", "CUDNN_", "TRITON_", "BNB_", "PIP_", "UV_"}
	envSecret   = lazy.Regexp(`(?i)TOKEN|PASSW|SECRET|_KEY$|CREDENTIAL|USERNAME|_AUTH`)
)

// Environ returns the variables that matter, without credentials.
func Environ(h *sysroot.Host) map[string]string {
	out := map[string]string{}
	for name, value := range h.Env {
		begins := func(p string) bool { return strings.HasPrefix(name, p) }
		matters := envNames[name] || machine.IsHost(name) || slices.ContainsFunc(envPrefixes, begins) && !envSecret().MatchString(name)
		if !matters || len(value) > 32<<10 {
			continue
		}
		if at := strings.LastIndexByte(value, '@'); at >= 0 && !strings.Contains(value, "://") && strings.HasSuffix(strings.ToLower(name), "_proxy") {
			value = "***" + value[at:] // curl takes such a proxy, too
		}
		out[name] = Redact(value)
	}
	return out
}

// Redact removes the credentials of every URL in a text, and control characters.
func Redact(s string) string {
	return text.Printable(text.Redact(s))
}
