package read

import (
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// placeReaders read where it runs: system, architecture, C library, container,
// WSL, Jetson, cluster.
var placeReaders = []reader{
	{`^\s*OS\s*:\s*(.+)`, takes((*Reader).system)},
	{`PRETTY_NAME=(.+)|^Description:\s*(Ubuntu.*|Debian.*)|(?:host|running|on|os)?[ :]*\b(Ubuntu \d\d\.\d\d|` +
		`Debian \d+|CentOS(?: Linux)? \d|RHEL ?\d|Rocky(?: Linux)? \d|Fedora \d+|Amazon Linux|Arch Linux|CachyOS|Manjaro|EndeavourOS|AlmaLinux \d|` +
		`openSUSE|Alpine|NixOS|Windows (?:10|11|Server|7|8)|macOS ?\d*|Mac OS X?)\b`, takes((*Reader).system)},
	{
		`Python platform\s*:\s*(.+)|^\s*(Linux \S+ \d+\.\d+.*|Darwin \S+ \d+.*)|(Darwin Kernel Version \d+.*)`,
		takes((*Reader).platform),
	},
	{`\bwin-64(?:::|/)|\blinux-(?:64|aarch64)(?:::|/)`, func(r *Reader, m []string, s Evidence) { // conda's platforms
		r.likelyOS(map[bool]string{true: "windows", false: "linux"}[m[0][0] == 'w' || m[0][0] == 'W'], s)
	}},
	{`\bosx-(?:arm64|64)\b|\bMPS backend\b`, func(r *Reader, _ []string, s Evidence) {
		r.likelyOS("macos", s)
	}},
	{`\b(Windows|win ?1[01]\b|win ?[78]\b|win32|win_amd64|\w+\.(?:bat|exe)\b|WinError|\.dll\b|\.pyd\b|` +
		`[A-Z]:\\[\w>]|findstr|\b(?:WDDM|MCDM)\b)`, func(r *Reader, m []string, s Evidence) {
		if !strings.Contains(strings.ToLower(s.Text), "wsl") {
			r.likelyOS("windows", s)
		}
	}},
	{`\bNVIDIA-SMI (\d{3}\.\d\d)\s+Driver Version: (\d{3})(\.\d\d)\s`, func(r *Reader, m []string, s Evidence) {
		// Linux's branches end in 0 or 5 (535, 550, 580), Windows' numbers run on (551.61);
		// WSL's nvidia-smi shows Linux' number beside Windows'.
		if m[1] == m[2]+m[3] && Atoi(m[2])%5 != 0 {
			r.likelyOS("windows", s)
		}
	}},
	{`Libc version\s*:\s*glibc-(\d+\.\d+)|\bglibc[ -](\d+\.\d+)|ldd \(.*\) (\d\.\d+)`, func(r *Reader, m []string, s Evidence) {
		if v, err := version.ParseDotted(m[1] + m[2] + m[3]); err == nil && r.c.Machine.Platform.Libc == nil {
			r.c.Machine.Platform.Libc = &machine.Libc{Kind: "glibc", Version: v}
			r.say(&r.c.From.Libc, s)
		}
	}},
	{`\b(aarch64|arm64|x86_64|amd64|ppc64le|riscv64|armv7l|i686|32-bit|win32)\b`, func(r *Reader, m []string, s Evidence) {
		if r.c.Machine.Platform.Arch == "" {
			r.c.Machine.Platform.Arch = strings.ToLower(m[1])
			r.say(&r.c.From.Arch, s)
		}
	}},
	{`\bpython3\d+-32\b|\(32-bit runtime\)|(?i)\bpython[ :v]{1,3}3[\d.]*,? ?\(?32[- ]?bit`, func(r *Reader, m []string, s Evidence) { // the installer's directory for a 32-bit Python on Windows
		r.c.Machine.Platform.Arch = "32-bit"
		r.say(&r.c.From.Arch, s)
	}},
	{`docker|podman|container(?:$|[^-]|-[^c])|kubernetes|\bk8s\b|\bpods?\b|\bLXC\b|nvidia/cuda:|nvcr\.io|singularity|apptainer|` +
		`\.sif\b|devcontainer|nvidia\.com/gpu|kserve|\bk3s\b|microk8s|minikube|openshift|kubectl|\b[EGA]KS\b|` +
		`daemonset|\bLXD\b|\bincus\b|distrobox`, speaks(func(c *Case) *Evidence { return &c.Place.Container })},
	{`\b(?:(podman)|(kubernetes|k8s|k3s|k0s|microk8s|minikube|openshift|kubectl|kubelet|kserve|[EGA]KS|daemonset)|(pyxis|enroot|srun .*--container-image))\b`,
		func(r *Reader, m []string, s Evidence) {
			for i, name := range []string{"podman", "kubernetes", "pyxis"} {
				if m[i+1] != "" {
					r.c.Place.Starter = name
				}
			}
			mark(&r.c.Place.Container, s)
		}},
	{
		`\bWSL ?2?\b|microsoft-standard|/usr/lib/wsl|Windows Subsystem for Linux|/dev/dxg`,
		speaks(func(c *Case) *Evidence { return &c.Place.WSL }),
	},
	{`Jetson|\bTegra|JetPack|\bL4T\b|-tegra\b|\bOrin\b|Xavier|nv_tegra_release`, func(r *Reader, m []string, s Evidence) {
		if !notTegra().MatchString(s.Text) {
			mark(&r.c.Place.Jetson, s)
		}
	}},
	{
		`\bslurm\b|\bsbatch\b|\bsrun\b|\bsalloc\b|SLURM_|\bPBS\b|\bqsub\b|login node`,
		speaks(func(c *Case) *Evidence { return &c.Place.Cluster }),
	},
	{
		`\bconda\b|\bmamba\b|micromamba|miniconda|anaconda|conda-forge|miniforge`,
		speaks(func(c *Case) *Evidence { return &c.Place.Conda }),
	},
	{`(?:laptop|machine|server|computer|\bpc|\bvm|instance|host|\bbox) (?:without|with no|that has no|` +
		`has no) (?:any |an? )?(?:nvidia )?gpus?\b|\bno (?:nvidia )?gpu (?:on|in|at) (?:my|this|the|` +
		`our) (?:computer|laptop|machine|server|pc|vm|box|host)|\b(?:i|we) (?:don't|do not) have (?:a |an |` +
		`any )?(?:nvidia )?(?:gpu|graphics card)\b`, says(func(c *Case) *Evidence { return &c.Says.NoGPU })},
	{`\bcolab\b|kaggle|paperspace|runpod|lightning\.ai|sagemaker`, speaks(func(c *Case) *Evidence { return &c.Place.Colab })},
	{`\b(?:Apple M\d|M[1-5] (?:Pro|Max|Ultra|Mac)|MacBook|Apple Silicon|mac (?:mini|pro|studio)|imac)`, func(r *Reader, m []string, s Evidence) {
		r.likelyOS("macos", s)
	}},
}

// likelyOS takes a system that a line speaks for, where no line before it spoke for one.
func (r *Reader) likelyOS(os string, s Evidence) {
	if r.c.Machine.Platform.OS == "" {
		r.c.Machine.Platform.OS = os
		r.say(&r.c.From.OS, s)
	}
}

// notTegra finds what NVIDIA's container tools print on every other machine.
var notTegra = lazy.Regexp(`(?i)non-tegra|tegra\S*( system)?\W.{0,40}\b(false|not found|no such)\b|` +
	`tegra_release.{0,12}not found`)

func mark(at *Evidence, s Evidence) {
	if at.IsZero() {
		*at = s
	}
}

// system reads a name of a system: "Ubuntu 22.04.3 LTS (x86_64)".
func (r *Reader) system(text string, s Evidence) {
	p := &r.c.Machine.Platform
	lower := strings.ToLower(text)
	switch {
	case strings.Contains(lower, "windows"):
		p.OS = "windows"
	case strings.Contains(lower, "mac os") || strings.Contains(lower, "macos") || strings.Contains(lower, "mac osx"):
		p.OS = "macos"
		mark(&r.c.Place.MacOS, s)
	case strings.TrimSpace(text) != "":
		if p.OS == "" || p.OS == "windows" && r.c.From.OS.Text != "" &&
			!strings.Contains(strings.ToLower(r.c.From.OS.Text), "windows") {
			p.OS = "linux"
		}
		for _, d := range []string{
			"ubuntu", "debian", "centos", "rhel", "red hat", "rocky", "almalinux", "fedora", "nobara", "alpine", "cachyos", "manjaro",
			"endeavouros", "arch", "opensuse", "nixos", "gentoo", "kali", "linuxmint",
		} {
			if strings.Contains(lower, d) {
				p.Distro = strings.ReplaceAll(d, "red hat", "rhel")
				p.DistroVersion = firstNumber().FindString(lower)
				break
			}
		}
	}
	r.say(&r.c.From.OS, s)
	if i, j := strings.LastIndexByte(text, '('), strings.LastIndexByte(text, ')'); i >= 0 && j > i {
		switch a := strings.ToLower(text[i+1 : j]); a {
		case "x86_64", "arm64", "aarch64", "amd64":
			p.Arch = a
			r.c.From.Arch = s
		}
	}
}

func (r *Reader) platform(text string, s Evidence) {
	p := &r.c.Machine.Platform
	lower := strings.ToLower(text)
	switch {
	case strings.HasPrefix(lower, "linux"):
		p.OS = "linux"
		if i := strings.IndexAny(text, "0123456789"); i >= 0 {
			p.Kernel = strings.SplitN(strings.SplitN(text[i:], "-x86", 2)[0], " ", 2)[0]
		}
	case strings.HasPrefix(lower, "windows"):
		p.OS = "windows"
	case strings.HasPrefix(lower, "macos"), strings.HasPrefix(lower, "darwin"):
		p.OS = "macos"
	}
	for _, a := range []string{"x86_64", "aarch64", "arm64"} {
		if strings.Contains(lower, a) {
			p.Arch = a
			r.c.From.PythonArch = s
		}
	}
	r.say(&r.c.From.OS, s)
}

var firstNumber = lazy.Regexp(`[0-9][0-9.]*`)

func (r *Reader) python(v string, s Evidence) {
	if len(r.c.Machine.Pythons) > 0 || strings.Contains(s.Text, "python_requires") {
		return
	}
	r.c.Machine.Pythons = append(r.c.Machine.Pythons, machine.Python{Version: v, Active: true})
	r.say(&r.c.From.Python, s)
}

func (r *Reader) toolkit(v string, s Evidence) {
	if d, err := version.ParseDotted(v); err == nil && len(r.c.Machine.Toolkits) < 8 {
		r.c.Machine.Toolkits = append(r.c.Machine.Toolkits, machine.Toolkit{Version: d})
		r.say(&r.c.From.Toolkit, s)
	}
}

// say notes where a fact was read first.
func (r *Reader) say(at *Evidence, s Evidence) {
	r.told = true
	mark(at, s)
}

func (r *Reader) sayEnv(name string, s Evidence) {
	r.told = true
	r.c.sayEnv(name, s)
}

// sayEnv notes where a variable was read first.
func (c *Case) sayEnv(name string, s Evidence) {
	if c.From.Env == nil {
		c.From.Env = map[string]Evidence{}
	}
	if _, said := c.From.Env[name]; !said {
		c.From.Env[name] = s
	}
}

// inWSL tells whether a text that names WSL is of a system in it, or of its host.
func (c *Case) inWSL(p *machine.Platform) {
	if p.OS == "windows" && (p.Distro != "" || slices.ContainsFunc(c.Hits, onLinuxAlone)) {
		p.OS = "linux" // Windows is the host that the text also speaks of
	}
	if p.OS == "linux" || p.OS == "" {
		p.Environment = machine.WSL2
	}
}

// conclude draws what follows from several facts together; told: there are facts of
// a machine.
func (c *Case) conclude(told bool) {
	p := &c.Machine.Platform
	c.Machine.Format = machine.Format
	if p.Arch == "amd64" {
		p.Arch = "x86_64"
	}
	if p.OS == "" && told {
		p.OS = "linux"
	}
	if !c.Place.WSL.IsZero() {
		c.inWSL(p)
	}
	switch {
	case !c.Place.Jetson.IsZero() && p.OS != "windows":
		p.Environment, p.Arch = machine.Jetson, "aarch64"
	case !c.Place.Container.IsZero() && p.Environment == "":
		p.Environment = machine.Container
	case p.Environment == "":
		p.Environment = machine.Bare
	}
	if p.Arch == "" && (p.OS == "linux" || p.OS == "windows") {
		p.Arch = "x86_64"
	}
	if c.Torch.Label == "" && !c.Torch.CUDA.IsZero() {
		c.Torch.Label = "cu" + strings.ReplaceAll(c.Torch.CUDA.MajorMinor(), ".", "")
	}
}

// onLinuxAlone reports whether a message is one that no program of Windows prints.
func onLinuxAlone(h Hit) bool {
	return strings.Contains(h.At.Text, "couldn't communicate with the NVIDIA driver") || strings.Contains(h.At.Text, ".so:")
}

// unseenInWords is how people say that a program does not use the GPU.
const unseenInWords = `\b(?:no|not|never|without|cannot|can.?t|doesn.?t|does not|isn.?t|won.?t|fails? to|` +
	`unable to)\b.{0,40}\b(?:GPUs?|CUDA|nvidia-smi)\b|\b(?:GPUs?|CUDA)\b.{0,40}(?:\bnot\b|n.t\b|\bnever\b|` +
	`no longer).{0,24}\b(?:visible|seen?|detect\w*|found|available|used?|recogni[sz]ed|work\w*)\b|\b0 GPUs\b|` +
	`(?:falls?|falling|fell) back to (?:the )?CPU|(?:runs?|running|only) on (?:the )?CPU|only uses? (?:the )?CPU|only (?:the )?CPU (?:is|was|gets) (?:being )?used|` +
	`is_available\(\)\W{0,8}False`

// factReaders note lines that rules look at as they are.
var factReaders = []reader{
	{`\bLX[CD]\b|\bincus\b|\bproxmox\b`, speaks(func(c *Case) *Evidence { return &c.Place.LXC })},
	{`\b(?:docker|podman)\b.{0,80}\bfail\w*`, speaks(func(c *Case) *Evidence { return &c.Says.Fails })},
	{`\buv (?:sync|lock|run|add)\b|uv\.lock|tool\.uv`, speaks(func(c *Case) *Evidence { return &c.Did.UVProject })},
	{`\b(?:not|n.t|without|before|until|needs?) (?:\w+ ){0,2}reboot|\b(rebooted|(?:tried|already) reboot\w*|after (?:\w+ ){0,2}reboot\w*|reboot\w* (?:did|does|has))\b`, func(r *Reader, m []string, s Evidence) {
		if m[1] != "" {
			mark(&r.c.Did.Rebooted, s)
		}
	}},
	{`\b(vllm|sglang|xformers|flash[-_]attn|bitsandbytes|deepspeed|detectron2|mmcv|mamba[-_]ssm|torchcodec|sgl[-_]kernel)\b`, func(r *Reader, m []string, s Evidence) {
		if name := strings.ReplaceAll(strings.ToLower(m[1]), "_", "-"); !slices.Contains(r.c.Says.Extensions, name) {
			r.c.Says.Extensions = append(r.c.Says.Extensions, name)
		}
	}},
	{`ComfyUI`, speaks(func(c *Case) *Evidence { return &c.Says.ComfyUI })},
	{
		`python_embed`,
		func(r *Reader, m []string, s Evidence) { r.say(&r.c.Did.EmbeddedPython, s); r.system("Windows", s) },
	},
	{`\buv (?:pip|add|sync|venv|run|lock|init)\b|uv\.lock`, says(func(c *Case) *Evidence { return &c.Did.UV })},
	{
		`--device[ =]cpu\b|--cpu\b|device ?= ?["']cpu["']|map_location ?= ?["']cpu["']`,
		says(func(c *Case) *Evidence { return &c.Did.AskedCPU }),
	},
	{replacedExpr, (*Reader).replaced},
	{takenAwayExpr, (*Reader).takenAway},
	{`^\s*([-+~])\s*torch(?:==| v?)(\d\S*)\s*$`, (*Reader).changed},
	{finishedExpr, says(func(c *Case) *Evidence { return &c.Says.Finished })},
	{`satisfies the requirement torch\b.*\(from versions: ([^)]*)`, func(r *Reader, m []string, s Evidence) {
		if len(r.c.Offered) == 0 {
			r.c.Offered = strings.FieldsFunc(m[1], func(c rune) bool { return c == ',' || c == ' ' })
		}
	}},
	{condaCUDASpec, func(r *Reader, m []string, s Evidence) {
		if CondaAsked().MatchString(s.Text) { // a long line is shortened
			r.say(&r.c.Did.CondaCUDA, s)
		}
	}},
	{
		`\b(?:conda|mamba|micromamba) (?:install|create|env create|env update)\b|\busing (?:mini|ana)?conda to install\b`,
		says(func(c *Case) *Evidence { return &c.Did.CondaInstall }),
	},
	{`download\.pytorch\.org/whl/`, says(func(c *Case) *Evidence { return &c.Did.Index })},
	{
		`\b(?:pip3?(?:\.exe)? install|uv add|poetry add|pdm add)\b.{0,80}\btorch\b`,
		says(func(c *Case) *Evidence { return &c.Did.PipTorch }),
	},
	{`^\s*"?Runtimes"?\s*:\s*\S|^\s*"runtimes"\s*:`, says(func(c *Case) *Evidence { return &c.Containers.Runtimes })},
	{
		`"nvidia"\s*:|nvidia-container-runtime"|default-runtime"?\s*[:=]\s*"?nvidia`,
		says(func(c *Case) *Evidence { return &c.Containers.NVIDIARuntime }),
	},
	{
		`^ii +nvidia-container-toolkit\b|nvidia-container-toolkit\S* (?:is |was )?(?:already )?(?:the newest|installed\b)|` +
			`nvidia-container-toolkit-1\.\d+\.\d+-|NVIDIA Container (?:Toolkit CLI|Runtime Hook) version|"nvidia-container-runtime"|` +
			`(?:have|has|had) (?:\w+ ){0,4}nvidia-container-toolkit installed|installed (?:the )?nvidia[- ]container[- ]toolkit`,
		says(func(c *Case) *Evidence { return &c.Containers.Toolkit }),
	},
	{`\b(cu1[0-9]\d)\b`, func(r *Reader, m []string, s Evidence) {
		if len(r.c.Labels) < 16 {
			r.c.Labels = append(r.c.Labels, strings.ToLower(m[1]))
		}
	}},
	{`\b(?:stopp?e?d? working|no longer (?:works?|supported|supports?|runs?)|(?:not|n't|never) (?:supported|` +
		`support|compatible|work|run)\b|incompatib\w+|(?:drop|remov)\w* (?:the )?support|support (?:was |is |` +
		`has been )?(?:dropped|removed)|unsupported|fails? (?:on|with) (?:this|my|the|these|` +
		`those) (?:\w+ )?(?:GPUs?|cards?))`, says(func(c *Case) *Evidence { return &c.Says.NotServed })},
	{`\b(?:Kepler|Maxwell|Pascal|Volta|sm_[3-7]\d)\b`, says(func(c *Case) *Evidence { return &c.Says.OldArch })},
	{`nvml error: driver/library version mismatch`, says(func(c *Case) *Evidence { return &c.From.Mismatch })},
	{`nvidia[- ]open\b|open[- ](?:gpu[- ])?kernel[- ]?modules?|nvidia-driver-\d+-open|` +
		`nvidia-open-dkms`, says(func(c *Case) *Evidence { return &c.Says.OpenModule })},
	{`no-cgroups\s*=\s*true`, says(func(c *Case) *Evidence { return &c.Containers.NoCgroups })},
	{`^\s*(?:>>> |In \[\d*\]: )?(?:import torch\b|from torch\b.{0,40}\bimport\b|` +
		`import os, ?torch\b)`, says(func(c *Case) *Evidence { return &c.Did.ImportTorch })},
	{`setup\.py|pip3? install .{0,40}(?:torch[-_](?:scatter|sparse|cluster|spline)|flash[-_]attn|apex|detectron2|` +
		`mmcv|deepspeed|pytorch3d|mamba|xformers|causal|diff[-_]gaussian|gsplat|nvdiffrast|tiny-?cuda|simple-knn|` +
		`natten|submodules/)|TORCH_CUDA_ARCH_LIST|\b(?:compil|build)(?:ing|es|ed)\b.{0,30}(?:extension|` +
		`from source|\.cu\b|kernels?)`, says(func(c *Case) *Evidence { return &c.Did.Building })},
	{`\[end of output\]|Getting requirements to build (?:wheel|editable)|build_meta\.py|` +
		`get_requires_for_build_wheel|pip-build-env|Failed to build .flash`, says(func(c *Case) *Evidence { return &c.Did.IsolatedBuild })},
	{ProcessCount, says(func(c *Case) *Evidence { return &c.Did.Launch })},
	{`environ\[.CUDA_VISIBLE_DEVICES.\]\s*=[^=]`, says(func(c *Case) *Evidence { return &c.Did.SetDevices })},
	{
		`GPU models and configuration\s*:\s*(?:Could not collect|N/A|No CUDA)`,
		says(func(c *Case) *Evidence { return &c.From.NoGPU }),
	},
	{`Nvidia driver version\s*:\s*(?:Could not collect|N/A|No CUDA)`, says(func(c *Case) *Evidence { return &c.From.NoDriver })},
}

// processCount is how torchrun and others are told to start one process per GPU.
const ProcessCount = `--(?:nproc[-_]per[-_]node|num[-_]processes|tensor[-_]parallel[-_]size)[ =](\d{1,2})\b`

const CudaInWords = `\bcuda(?: ?toolkit)?(?: version)?\W{1,3}v?(\d{1,2}\.\d)\b`

// condaCUDASpec is what one asks conda for.
const condaCUDASpec = `\b(?:cudatoolkit|pytorch-cuda)\s*={1,2}\s*(\d{1,2}\.\d)\b`

var CondaAsked = lazy.Regexp(`(?i)` + condaCUDASpec)

// notSeen is how people say that a GPU is not seen, in the languages that are asked in.
const notSeen = `\b(?:GPUs?|CUDA|graphics card)\b.{0,24}(?:\bnot\b|n.t\b|\bnever\b).{0,16}\b(?:detect\w*|` +
	`recogni[sz]\w*|found|seen|visible|available|used|work\w*)|` +
	`\b(?:not|never|n.t|cannot|unable to) (?:detect|find|see|us(?:e|ing)|utili[sz]|touch|recogni[sz]e)\w* (?:my |the |a |` +
	`any )?(?:NVIDIA |CUDA )?(?:V?RAM of the )?(?:GPU|CUDA|VRAM|graphics card)\b|` +
	`(?:检测不到|找不到|识别不到|无法使用|没有使用|用不了|不能使用|无法识别|` +
	`无法检测).{0,8}(?:GPU|CUDA|显卡)|(?:GPU|CUDA|显卡).{0,8}(?:不可用|无法使用|用不了|没有被使用|检测不到|识别不到)|` +
	`(?:GPU|CUDA|Grafikkarte).{0,24}nicht (?:erkannt|gefunden|verf\x{fc}gbar|verwendet|genutzt|benutzt)|keine GPU|` +
	`(?:GPU|CUDA|carte graphique).{0,24}(?:pas|non) (?:d\x{e9}tect\S*|utilis\S*|reconnu\S*|disponible|trouv\S*)|` +
	`ne (?:d\x{e9}tecte|voit|trouve|reconna\x{ee}t|utilise) pas.{0,24}(?:GPU|CUDA|carte)|` +
	`не (?:видит|находит|использует|определяет|` +
	`обнаруживает).{0,24}(?:GPU|CUDA|видеокарт\S*)|(?:GPU|CUDA|` +
	`видеокарта).{0,24}не (?:определяется|обнаружен\S*|найден\S*|работает|доступн\S*|используется|видн\S*)|` +
	`(?:GPU|CUDA).{0,8}(?:が|を|は)?(?:認識し|認識でき|検出し|使用し|認識され|使われ|使用され|使用でき|使え|検出され|利用でき)\S{0,4}(?:ない|ません)|` +
	`(?:GPU|CUDA|tarjeta).{0,24}no (?:se )?(?:detecta|reconoce|disponible|usa|encuentra)|no (?:detecta|reconoce|` +
	`usa|encuentra) (?:la |mi )?(?:GPU|CUDA|tarjeta)`
