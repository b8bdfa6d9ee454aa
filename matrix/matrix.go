// Package matrix is the compatibility matrix: which PyTorch build carries code
// for which GPU, which driver runs which CUDA, and which library of the stack
// serves what. It loads and validates data; it decides nothing.
//
// Knowledge is data: every fact lives in YAML files (package data) with its
// source. Adding a PyTorch release is adding one file.
package matrix

import (
	"envfix/internal/machine"
	"envfix/internal/version"
)

// A Matrix is a validated snapshot of all data. It must not be changed after
// loading.
type Matrix struct {
	Version string // "2026.11.2"
	Date    string // 2026-11-21, when the data was last looked at
	SHA256  string // hex, over all files that were read

	index  index             // made by Load for the lookups
	shared map[string]string // sources.yaml, while loading

	Releases      []*Release   // newest first
	Floors        []Floor      `row:"driver floor: Label"`   // driver floor per CUDA family and platform
	Branches      []Branch     `row:"driver branch: Number"` // driver branches, newest first
	Toolkits      []Toolkit    `row:"CUDA: Version"`         // CUDA toolkits, newest first
	Components    []Components `row:"parts of CUDA: CUDA"`
	Arches        []Arch       `row:"capability: SM"` // compute capabilities, lowest first
	CubinRules    []CubinRule  `row:"cubin rule: Cubin Device"`
	Libraries     []Library    `row:"library: Package Version Major Arch"` // GPU libraries of the stack, as their wheels' bytes say
	Ptxas         []Ptxas      `row:"ptxas of triton: Triton Arch"`        // triton's assemblers
	Extensions    []Extension  `row:"extension: Package Version OS Arch CUDA TorchLabels Sdist"`
	Defects       []Defect
	Conda         []CondaBuild `row:"conda: Channel Torch OS Arch CUDA Note"`
	VendorIndexes []VendorIndex
	ForwardCompat []ForwardCompat `row:"package of forward compatibility: Package"`
	ROCm          []ROCmTarget    `row:"gfx target: Label GFX Torch"` // gfx targets of the ROCm builds
	Sizes         []Size          // what installing a build takes
	Commands      []CommandEra    // how PyTorch wrote its install commands
	Distributions []Distribution  `row:"distribution: IDs Versions"`
	Brackets      []Bracket       // where support of a GPU begins and ends

	Needs      []Need      // what packages need and do not declare
	Backends   []Backend   `row:"backend: Label Torch OS Arch"` // floors of a backend above the wheel's own tag
	Files      []Files     // wheels of the default index, by package and version
	Frameworks []Framework `row:"framework: Package Versions OS Arch CUDA"` // tensorflow, jax, onnxruntime, cupy
	Elsewhere  []Elsewhere // wheels that the default index does not have
	Removed    []Removed   // modules that torch's family has no more
	Brings     []Brings    // packages that bring a framework, or a package with a need of torch
	Known      []Known     // names of packages, and names that stand for them
}

// A Distribution is what a Linux distribution installs as its Python.
type Distribution struct {
	IDs      []string // of os-release
	Versions []string // VERSION_ID; 9 admits 9.4
	Manager  string   `one:"apt-get dnf zypper"` // apt-get, dnf or zypper
	Python   string   // 3.12
	Program  string   // the interpreter's path
	Packages []string
	Proof    Proof
	Source   string
}

// Proof says how a row is known, the best first.
type Proof string

// The values of Proof: read from the wheel's own bytes, from its metadata, from
// the build script, from documentation, from a report, or inferred.
const (
	ByWheel         Proof = "wheel"
	ByMetadata      Proof = "metadata"
	ByBuildScript   Proof = "build-script"
	ByDocumentation Proof = "documentation"
	ByReport        Proof = "report"
	ByInference     Proof = "inferred"
)

// A Release is one PyTorch version and what was published for it.
type Release struct {
	Torch  version.Python `json:"torch"`  // never with a local label
	Date   string         `json:"date"`   // 2025-11-12, of the first wheel
	Builds []*Build       `json:"-"`      // in the order of the data: the default index's first, then newer CUDA first
	Proof  Proof          `json:"-"`      // how its companions are known
	Source string         `json:"source"` // a file and line of data/

	Citation string `json:"-"` // what Source says

	// Companions are the versions released to go with it: torchvision,
	// torchaudio, triton, torchtext, torchcodec. A missing name: none exists.
	Companions map[string]version.Python `json:"companions"`
}

// A Build is one binary variant of a release on one platform.
type Build struct {
	Release *Release `compiled:"-" json:"-"`

	Framework *Framework `compiled:"-" json:"-"` // whose build it is; nil: torch's

	Label string `data:"build" json:"build"`              // cu126, cpu, rocm7.2, xpu, mps; the wheel's local label except for mps and unlabelled wheels
	OS    string `one:"linux windows macos" json:"os"`    // linux, windows, macos
	Arch  string `one:"x86_64 aarch64 arm64" json:"arch"` // as machine.Platform.Arch

	CUDA   version.Dotted    `json:"cuda"` // toolkit, such as 12.6.3; zero: not a CUDA build
	CuDNN  version.Dotted    `json:"cudnn"`
	NCCL   version.Dotted    `json:"nccl"`
	Triton version.Python    `json:"triton"`
	Pins   map[string]string `json:"libraries"` // further libraries: cublas, cufft, nvshmem, cusparselt …

	Native []Code `json:"-"` // cubins
	PTX    []Code `json:"-"` // what can be compiled for newer GPUs at run time

	Index   string `json:"index"`   // URL of its own index; "" where only the default index carries it
	Default bool   `json:"default"` // the default Python index carries it

	PythonMin    version.Python `json:"python_min"`          // 3.10
	PythonMax    version.Python `data:"-" json:"python_max"` // 3.14, included
	FreeThreaded []string       `data:",quoted" json:"-"`    // "3.13t" …
	Glibc        version.Dotted `json:"glibc"`               // oldest glibc; zero: not glibc
	MacOSMin     version.Dotted `data:"macos" json:"macos"`  // oldest macOS; zero: unknown or not macOS

	Status Status `data:"-" json:"status"`
	Proof  Proof  `data:"-" json:"proof"`  // its own word, not its file's
	Source string `data:"-" json:"source"` // where the row is from: a file and line of data/, for messages
	Notes  string `json:"notes,omitempty"`

	Citation string `data:"-" json:"citation"` // what the row says about its origin

	// Companions overrides Release.Companions for this build: a version "" says
	// that the companion does not exist or does not load beside it.
	Companions map[string]string `json:"-"`
}

// Status says whether PyTorch offers a build.
type Status string

// The values of Status. Only Offered builds are chosen unasked; the others when
// named by --build.
const (
	Offered       Status = "offered"
	NotAdvertised Status = "not advertised" // on its index, but no selector names it (cu129 after 2.8)
	Limited       Status = "limited"
	NotSeen       Status = "not seen" // planned or inferred; nobody saw a wheel
)

// A Code is compiled code for one GPU generation: a cubin such as sm_90a, or PTX
// such as compute_120.
type Code struct {
	SM     machine.SM
	Suffix string // "", "a" (that one capability only), "f" (its family)
}

// String returns the code as the data writes it, such as 9.0a.
func (c Code) String() string { return c.SM.String() + c.Suffix }

// A CubinRule is an exception to "a cubin for X.y runs on X.z where z >= y":
// PyTorch's own list, torch/cuda/__init__.py.
type CubinRule struct {
	Cubin  machine.SM
	Device machine.SM
	Runs   bool
	Proof  Proof
	Source string
}

// A Floor is the oldest driver that runs builds of a CUDA family (minor-version
// compatibility), from driver_minimums.csv.
type Floor struct {
	Label   string         `data:"build" json:"-"` // cu126
	CUDA    version.Dotted `json:"-"`
	Linux   version.Dotted `json:"linux"`
	Windows version.Dotted `json:"windows"` // also for WSL
	Proof   Proof          `json:"-"`
	Source  string         `json:"-"`
}

// Driver is that of Windows, which counts in WSL too, or of Linux.
func (f Floor) Driver(windows bool) version.Dotted { return column(windows, f.Windows, f.Linux) }

func column(windows bool, its, linux version.Dotted) version.Dotted {
	if windows {
		return its
	}
	return linux
}

// A Branch is one driver branch.
type Branch struct {
	Number        int            `data:"branch"` // 580
	Kind          string         // LTS, PB, NFB, legacy, unknown
	Latest        version.Dotted `data:"linux"` // Linux
	LatestWindows version.Dotted `data:"windows"`
	First         string         // date of the first Linux release
	EOL           string         // date, "" unknown
	CUDA          version.Dotted // what it reports: the newest CUDA it supports natively
	Modules       []string       // kernel module flavours it ships: open, proprietary
	Proof         Proof
	Source, Note  string
}

// Newest is its newest release on Windows or on Linux.
func (b Branch) Newest(windows bool) version.Dotted {
	return column(windows, b.LatestWindows, b.Latest)
}

// A Toolkit is one CUDA toolkit release.
type Toolkit struct {
	Version      version.Dotted `data:"cuda"`
	LinuxTable   version.Dotted `data:"linux"` // the release notes' minimum
	WindowsTable version.Dotted `data:"windows"`
	Proof        Proof
	Source, Note string
}

// Driver is the release notes' minimum on Windows or on Linux.
func (t Toolkit) Driver(windows bool) version.Dotted {
	return column(windows, t.WindowsTable, t.LinuxTable)
}

// An Arch is one compute capability and the drivers that know it.
type Arch struct {
	SM           machine.SM
	Name         string         // Volta, Blackwell …
	FirstDriver  version.Dotted `data:"first"` // oldest Linux driver that knows it; zero: older than 450
	FirstWindows version.Dotted
	LastBranch   int      // last branch that drives it; 0: still driven
	Modules      []string // flavours that can drive it: open, proprietary
	FirstCUDA    string   // first and last toolkit that compiles for it; "" last: still does
	LastCUDA     string
	Proof        Proof
	Source, Note string
}

// First is the oldest driver that knows it on Windows or on Linux.
func (a Arch) First(windows bool) version.Dotted {
	return column(windows, a.FirstWindows, a.FirstDriver)
}

// A Library is one library of the CUDA stack in one version on one platform.
type Library struct {
	Package string         // cudnn, cublas, cufft, curand, cusolver, cusparse, cusparselt, nccl, nvshmem
	Version version.Dotted `each:"versions"`
	Major   int            `data:"cuda"` // CUDA major that it was built for
	Arch    string         // x86_64, aarch64
	Native  []Code
	PTX     []Code
	Proof   Proof
	Source  string
	Note    string
}

// A Ptxas says which GPUs torch.compile can serve with one triton.
type Ptxas struct {
	Triton  version.Python
	Arch    string
	Served  []machine.SM
	Version string // of the assemblers: 12.8.93 and 13.1.80
	Proof   Proof
	Source  string
}

// An Extension is one wheel of a package that carries GPU code or pins torch.
type Extension struct {
	Package      string
	Version      version.Python    `each:"versions"`
	OS, Arch     string            `each:"on"` // "" any
	Sdist        bool              // a source distribution
	Python       string            `data:",specifier"` // specifier; "" any
	Yanked       bool              // withdrawn: never to be chosen
	Torch        version.Specifier // what it needs, declared or proven
	TorchLabels  []string          `data:"builds"` // builds of torch that it loads beside; empty: any of its CUDA's major
	CUDA         string            // built for: "12.8" or "12", its major must be torch's; "" no CUDA
	Native, PTX  []Code            // of its core library; both empty: not read, or none of its own
	MinSM        machine.SM        // needs at least this GPU; zero: any
	Needs        []string          // other packages of this table that it cannot do without
	Fails        string            `one:"- import call log silent"` // where a wrong torch or CUDA shows: import, call, log, silent; "" not known
	Proof        Proof
	Source, Note string
}

// A Defect is a known fault of single builds.
type Defect struct {
	Package  string
	Versions version.Specifier
	Labels   []string     `data:"builds"` // of builds; empty: any
	OS, Arch string       // "" any
	SMs      []machine.SM `data:"gpus"` // empty: any GPU
	Below    machine.SM   // GPUs below this; zero: not used
	Pythons  []string     `data:"pythons,quoted"`
	Breaks   string       `one:"all import install some fft linalg compile nccl conv sparse hash"` // what it breaks: all, import, install, fft, linalg, compile, nccl, conv, sparse, some (reports disagree), hash (the index gives a wrong one: a lock reads the bytes)

	Torch    version.Specifier // beside these releases of torch, where Package is another
	MinCuDNN version.Dotted    `data:"min_cudnn"` // builds whose cuDNN is at least this; zero: any
	When     string            // a further condition in words; "" none

	Effect string
	Remedy string
	Proof  Proof
	Source string
}

// A CondaBuild is one CUDA or CPU build of pytorch on a conda channel.
type CondaBuild struct {
	Channel     string         // conda-forge, pytorch
	Torch       version.Python `each:"torch"`
	OS, Arch    string
	CUDA        version.Dotted // zero: CPU
	Native, PTX []Code
	PythonMin   version.Python
	PythonMax   version.Python `data:"-"`
	Glibc       version.Dotted
	Note        string
	Proof       Proof
	Source      string
}

// A Size is what installing one build of torch takes, with torchvision and
// everything that they pull in.
type Size struct {
	Torch              version.Python
	Build              string
	OS, Arch           string
	DownloadMB, DiskMB int // millions of bytes
	Proof              Proof
	Source             string
}

// A VendorIndex is an index or a set of wheels that only a vendor publishes.
type VendorIndex struct {
	Vendor   string   // nvidia, amd
	Platform string   // jetpack6, jetpack7, windows, wsl2, linux
	GPUs     []string // compute capabilities or gfx targets it serves; empty: as its text says
	Kind     string   // index, index (nightly), direct wheel URLs
	URL      string
	Package  string   // of which alone it has wheels; "": of torch
	Command  string   // how those are installed
	Pythons  []string `data:"pythons,quoted"`
	Status   string
	Names    string // the GPUs in words
	Proof    Proof
	Source   string
}

// A ForwardCompat is a cuda-compat package: data-centre GPUs may run a newer
// CUDA on an older base branch with it.
type ForwardCompat struct {
	CUDA    version.Dotted
	Package string
	Base    []int // base branches it runs on
	Proof   Proof
	Source  string
}

// A ROCmTarget is one gfx target of one ROCm build.
type ROCmTarget struct {
	Label  string `data:"build"` // rocm7.2
	Torch  version.Specifier
	GFX    string `each:"gfx"`
	Names  string `data:"-"`
	Broken string // why its code is there and does not work; "" it works as far as is known
	Doubt  string // what nobody confirmed; "" nothing
	Proof  Proof
	Source string
}

// A Components says which libraries a CUDA toolkit is made of; builds of that
// toolkit pin them.
type Components struct {
	CUDA   version.Dotted
	Pins   map[string]string `keys:"cublas cufft curand cusolver cusparse"`
	Proof  Proof
	Source string
}

// A Bracket is an end of a GPU's support: a build that has code for it, and a
// neighbour that has none.
type Bracket struct {
	SM       machine.SM `data:"gpu"`
	Has, Not string     // "2.9.1 cu126 linux-x86_64"
	Proof    Proof
	Source   string
}
