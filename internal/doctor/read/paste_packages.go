package read

import (
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/xslices"
)

// packageReaders read lists of packages (pip, conda, uv, collect_env) and what
// installers write while they work.
var packageReaders = []reader{
	{
		`^\s*(?:\[(pip\d?|conda)\]\s+)?(` + packageNames + `)\s*(==|=|\s)\s*v?(\d+[\w.+!-]*)(?:\s*[= ]\s*(\S+))?(?:\s+(\S+))?\s*$`,
		(*Reader).packageRow,
	},
	{`(?:^|[\s(])([\w-]*torch[\w-]*|nvidia-[\w-]+-cu\d\d|bitsandbytes|xformers|vllm|triton|` +
		`flash[-_]attn)==(\d[\w.+]*)`, func(r *Reader, m []string, s Evidence) {
		if !strings.HasPrefix(strings.TrimSpace(s.Text), "- ") && !strings.Contains(s.Text, "install ") && !strings.Contains(s.Text, "require") &&
			!strings.Contains(s.Text, "version that satisfies") && !strings.Contains(s.Text, "no wheels") {
			r.addPackage(Package{Name: normal(m[1]), Version: m[2], Tool: "pip", At: s})
		}
	}},
	{`^\s*(nvidia-[\w-]+-cu\d\d) (\d[\w.]*)[,;]`, func(r *Reader, m []string, s Evidence) { // several in one line
		r.addPackage(Package{Name: normal(m[1]), Version: m[2], Tool: "pip", At: s})
	}},
	{
		`Uninstalling torch-(\d\S*):`,
		func(r *Reader, m []string, s Evidence) { r.uninstalled, r.uninstalledAt = m[1], s },
	},
	{`Found existing installation: (torch\w*) (\d+\.\d+\S*)`, func(r *Reader, m []string, s Evidence) {
		if strings.EqualFold(m[1], "torch") && strings.Contains(r.prev, "Attempting uninstall") {
			r.uninstalled, r.uninstalledAt = m[2], s
		}
		if !strings.Contains(r.prev, "Attempting uninstall") { // what pip is about to replace
			r.addPackage(Package{Name: normal(m[1]), Version: m[2], Tool: "pip", At: s})
		}
	}},
	{`\bpip3? (?:list|show|freeze)\b.{0,30}\btorch\b\W{0,4}(\d+\.\d+\.\d+[\w.+]*)`, func(r *Reader, m []string, s Evidence) {
		r.addPackage(Package{Name: "torch", Version: m[1], Tool: "pip", At: s})
	}},
	{`Successfully installed\b(.*)`, func(r *Reader, m []string, s Evidence) {
		for f := range strings.FieldsSeq(m[1]) {
			if i := strings.LastIndexByte(f, '-'); i > 0 && i+1 < len(f) && f[i+1] >= '0' && f[i+1] <= '9' {
				r.addPackage(Package{Name: normal(f[:i]), Version: f[i+1:], Tool: "pip", At: s})
				if f[:i] == "torch" && r.uninstalled != "" && r.uninstalled != f[i+1:] {
					r.c.Replaced = Replacement{From: r.uninstalled, To: f[i+1:], At: r.uninstalledAt}
				}
			}
		}
	}},
	{`\buv (?:init|venv|add|sync|run|pip)\b.{0,40} (?:-p|--python)[ =](?:cpython|` +
		`python)?@?(\d\.\d+(?:\.\d+)?)\b`, takes((*Reader).python)},
	{`(?:python|cpython)(?: version)?\s*[:=]?\s*(\d\.\d+(?:\.\d+)?)\b`, takes((*Reader).python)},
	{`\b(lib(?:cuda|cudnn\w*|cublas\w*|nccl|nvJitLink|nvrtc|cusparse|cudart|cufft|nvidia-ml|` +
		`stdc\+\+)\.so[\d.]*)\s*(?:=>|->|resolves to)\s*(/\S+|\.\.\.\S*|~\S*)`, func(r *Reader, m []string, s Evidence) {
		r.c.Libraries = append(r.c.Libraries, Library{Name: m[1], Path: strings.TrimRight(m[2], ".,"), At: s})
	}},
	{`calling init: (/\S*/(lib(?:cudnn\w*|cublas\w*|nccl|nvJitLink|nvrtc|cusparse|cudart|cufft|curand|` +
		`cusolver)\.so[\d.]*))`, func(r *Reader, m []string, s Evidence) {
		r.c.Libraries = append(r.c.Libraries, Library{Name: m[2], Path: m[1], At: s}) // LD_DEBUG=libs
	}},
	{`\b(libcuda\.so[\d.]*) \([^)]{1,40}\) => (/\S+)`, func(r *Reader, m []string, s Evidence) { // ldconfig -p: the first is taken
		if !slices.ContainsFunc(r.c.Libraries, func(l Library) bool { return l.Name == m[1] }) {
			r.c.Libraries = append(r.c.Libraries, Library{Name: m[1], Path: m[2], At: s})
		}
	}},
	{`(?:release |Cuda compilation tools, release )(\d+\.\d+), V|(?:nvcc|CUDA toolkit)\b(?: (?:-V|` +
		`--version))?(?: version| release| is| says| shows)*[ :=]+V?(\d+\.\d+(?:\.\d+)?)|` +
		`CUDA runtime version\s*:\s*(\d+\.\d+(?:\.\d+)?)`, takes((*Reader).toolkit)},
	{`\b(LD_LIBRARY_PATH|LD_PRELOAD|BNB_CUDA_VERSION|CUDA_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES|CUDA_HOME|` +
		`CUDA_PATH|NVIDIA_VISIBLE_DEVICES|NVIDIA_DRIVER_CAPABILITIES|HSA_OVERRIDE_GFX_VERSION|PYTHONPATH|` +
		`CUDA_DEVICE_ORDER|NCCL_P2P_DISABLE|PYTORCH_(?:CUDA_)?ALLOC_CONF|CONDA_OVERRIDE_CUDA|` +
		`CUDA_LAUNCH_BLOCKING)['"]?\]?\s*(?:=|:| is set to| set to| contains| is)\s*(.*)$`, func(r *Reader, m []string, s Evidence) { r.variable(strings.ToUpper(m[1]), m[2], s) }},
	{`(?:echo|printenv)\s+"?\$?\{?(LD_LIBRARY_PATH|CUDA_VISIBLE_DEVICES|CUDA_HOME|LD_PRELOAD|` +
		`PYTHONPATH)\}?"?\s*$`, func(r *Reader, m []string, s Evidence) { r.wait = strings.ToUpper(m[1]) }},
}

// packageNames are the packages that decide anything here; lists hold hundreds.
const packageNames = `pytorch|pytorch-nightly|pytorch-cuda|pytorch-mutex|libtorch|cpuonly|torch|torch-\w+|` +
	`torchvision|torchaudio|torchtext|torchcodec|cudatoolkit|cuda-version|cudnn|nvidia-[\w-]+|numpy|triton[\w.-]*|` +
	`pytorch-triton[\w.-]*|xformers|flash[-_]attn|bitsandbytes|vllm|mkl|intel-openmp|onnxruntime[\w.-]*|tensorflow[\w.-]*|` +
	`jax[\w.-]*|cuda-(?:python|bindings)|cupy-cuda\w+|ctranslate2|deepspeed|intel[-_]extension[-_]for[-_]pytorch|transformers|accelerate|` +
	`sentence-transformers|torch_\w+`

var separators = lazy.Regexp(`[-_.]+`)

func normal(name string) string { return separators().ReplaceAllString(strings.ToLower(name), "-") }

func (r *Reader) packageRow(m []string, s Evidence) {
	p := Package{Name: normal(m[2]), Version: m[4], Build: m[5], Channel: m[6], Tool: "pip", At: s}
	switch {
	case strings.EqualFold(m[1], "conda"), p.Build != "" && p.Channel != "", buildString().MatchString(p.Build):
		p.Tool = "conda"
	case m[1] == "" && p.Build != "" && !strings.HasPrefix(p.Build, "/"):
		return // prose
	}
	if strings.HasPrefix(p.Build, "pypi") {
		p.Channel = "pypi"
	}
	r.addPackage(p)
}

// buildString matches conda's: py310_cuda11.8_cudnn8.7.0_0, cpu_generic_py312_….
var buildString = lazy.Regexp(`(?i)^\w*(py\d|cpu|cuda|cudnn|pypi)\w*[._]\S*$`)

func (r *Reader) addPackage(p Package) {
	if len(r.c.Packages) < 2000 {
		r.c.Packages = append(r.c.Packages, p)
	}
	switch {
	case p.Name == "torch" && p.Channel == "pypi" && r.c.Installed("pytorch") != nil:
	case p.Name == "torch":
		if !strings.Contains(strings.ToLower(p.At.Text), "works") {
			r.torch(p.Version, ByList, p.At)
		}
	case p.Name == "pytorch" && p.Tool == "conda":
		condaTorch(r, p)
	}
}

// condaTorch takes what conda's build string says of the build.
func condaTorch(r *Reader, p Package) {
	if r.c.Torch.Rank <= ByList || r.c.Torch.CUDA.IsZero() && !r.c.Torch.NoCUDA {
		if r.c.Torch.Rank < ByList {
			r.torch(p.Version, ByList, p.At)
		}
		switch m := condaCUDA().FindStringSubmatch(p.Build); {
		case strings.Contains(p.Build, "cpu"):
			r.c.Torch.NoCUDA, r.c.Torch.CUDAAt = true, p.At
		case m != nil && r.c.Torch.CUDA.IsZero():
			v := m[1]
			if !strings.Contains(v, ".") && len(v) > 2 {
				v = v[:len(v)-1] + "." + v[len(v)-1:]
			}
			r.torchCUDA(v, p.At)
		}
	}
}

var condaCUDA = lazy.Regexp(`cuda_?(\d+(?:\.\d+)?)`)

var kernelRelease = lazy.Regexp(`^\d+\.\d+\.\d\S*$`)

func (r *Reader) variable(name, value string, s Evidence) {
	value = strings.TrimSpace(value)
	if names := strings.Split(name, ","); len(names) > 1 {
		if values := strings.Fields(value); len(values) == len(names) {
			for i := range names {
				r.variable(names[i], values[i], s)
			}
		}
		return
	}
	if name != "-" && !r.ofTorch(name, value, s) {
		r.exported(name, value, s)
	}
}

// ofTorch takes the answers to what people ask torch and Python; false for a name that
// is none of them.
func (r *Reader) ofTorch(name, value string, s Evidence) bool {
	switch bare := strings.Trim(value, `'" `); name {
	case "is_available":
		bare = answerVerb().ReplaceAllString(strings.TrimLeft(bare, "#>=-→ "), "")
		bare, _, _ = strings.Cut(bare, " ") // "# False", and more words
		bare = strings.TrimRight(bare, ".,;:")
		if strings.EqualFold(bare, "True") || strings.EqualFold(bare, "False") {
			r.available(bare, s)
		}
	case "torch.version.cuda", "torch.version.hip", "torch.__version__":
		versionOf(r, name, bare, s)
	case "module":
		r.loaded(bare, s)
	case "uname":
		if k := &r.c.Place.Kernels; kernelRelease().MatchString(bare) && k.Running == "" {
			k.Running, k.RunningAt = bare, s
		}
	case "bits":
		if bare == "32" {
			r.thirtyTwo(s)
		}
	case "sys.executable":
		if m := pythonFile().FindString(value); m != "" {
			r.interpreter(m, s)
		}
	default:
		return false
	}
	return true
}

// versionOf takes a version that torch says of itself.
func versionOf(r *Reader, name, bare string, s Evidence) {
	switch {
	case name == "torch.version.cuda" && (bare == "None" || bare != "" && strings.Trim(bare, "0123456789.") == ""):
		r.torchCUDA(bare, s)
	case name == "torch.version.hip" && hipVersion().MatchString(bare):
		r.c.Torch.HIP, r.c.Torch.NoCUDA = bare, false
	case name == "torch.__version__" && torchVersion().MatchString(bare):
		r.torch(bare, ByTorch, s)
	}
}

// exported takes a variable of the environment.
func (r *Reader) exported(name, value string, s Evidence) {
	if name != "PYTHONPATH" {
		value, _, _ = strings.Cut(value, " ")
	}
	value = strings.TrimRight(value, ";,.")
	if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		value = value[1 : n-1]
	}
	lower := strings.ToLower(value)
	for _, w := range []string{
		"unset", "not set", "none set", "differs", "has no", "<not", "none", "(unset", "(not", "no ",
	} {
		if strings.HasPrefix(lower, w) {
			return
		}
	}
	r.set(name, value, s)
}

var pythonFile = lazy.Regexp("(?i)" + pythonPath)

// hipVersion is what torch.version.hip holds: "6.1.40091-a8dbc0c19".
var hipVersion = lazy.Regexp(`^\d+\.\d+(?:\.\d+)?\S*$`)

var torchVersion = lazy.Regexp(`^\d\.\d+\.\d+[\w.+]*$`)

// installed returns the first package of a name.
func (c *Case) Installed(name string) *Package {
	return xslices.At(c.Packages, func(p Package) bool { return p.Name == name })
}

// answerVerb begins a line that people write below a call: "return False".
var answerVerb = lazy.Regexp(`(?i)^(?:it |this |that )?(?:returns?|returned|prints?|gives?|says?|shows?|output(?:s|:)?|result:?|is) `)
