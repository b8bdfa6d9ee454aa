// Package resolver chooses one driver, CUDA, cuDNN and PyTorch combination for a
// machine, and says why.
//
// It is a pure function of its arguments: it reads no files, clock, environment
// or network, so the same input gives the same answer on every machine of a
// team. It enumerates candidates and tries every rule on each, so that every
// refusal keeps its exact reason.
package resolver

import (
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/matrix"
)

// OfOthers is where a requirement is from that nobody asked for.
const OfOthers = "what other packages require"

// A Request is what the user asked for. The zero Request means "the newest
// PyTorch that this machine can run without touching its driver".
type Request struct {
	Requirements []pep508.Requirement `json:"requirements"` // empty: torch and torchvision, and torchaudio while it exists

	Python        string   `json:"python,omitempty"`         // "3.12", "3.14t"; "" the interpreter found
	ProjectPython string   `json:"project_python,omitempty"` // requires-python or .python-version
	CUDA          string   `json:"cuda,omitempty"`           // "12.6" exactly that minor, "12" that major
	Build         string   `json:"build,omitempty"`          // cu126, cpu, rocm7.2, xpu, mps
	CPU           bool     `json:"cpu,omitempty"`            // a CPU build is what is wanted
	Manager       string   `json:"manager,omitempty"`        // uv, pip, conda, mamba, micromamba, pixi, poetry
	JIT           bool     `json:"jit,omitempty"`            // the job compiles kernels at run time
	ChangeDriver  bool     `json:"change_driver,omitempty"`  // the plan may install or change the driver
	OnlyIndex     string   `json:"only_index,omitempty"`     // default, pytorch or a URL
	Channel       string   `json:"channel,omitempty"`        // nightly, test: builds that are no releases; "" releases
	GPUs          []int    `json:"gpus,omitempty"`           // use only these (their Index); empty: all
	Companions    []string `json:"companions,omitempty"`     // torchvision … that the environment has: taken where they exist

	Policy *Policy `json:"policy,omitempty"` // what the team admits; nil: it says nothing

	AllowURL []string `json:"allow_url,omitempty"` // packages that may come from an address outside the indexes, by hash

	AsNamed []string `json:"as_named,omitempty"` // names that are meant as they are written, however like a known one
	Relax   []string `json:"relax,omitempty"`    // names whose versions in files were set aside

	// Listed are wheels that the data does not know and that their index was asked for, by
	// torch's version and build (2.15.0+cpu); nil: it has none. Suppose takes all others of
	// which nobody knows for there, to find out which one to ask for.
	Listed  map[string]*Listed `json:"listed,omitempty"`
	Suppose bool               `json:"-"`

	Resolved  bool   `json:"-"`                   // uv found versions of all that is asked for
	Described bool   `json:"described,omitempty"` // the machine was described by flags or a file
	Today     string `json:"today,omitempty"`     // 2026-11-21; the resolver has no clock
}

// Listed is what an index's page says of a wheel that nobody has read.
type Listed struct {
	Index  string `json:"index"`
	File   string `json:"file"`
	SHA256 string `json:"sha256,omitempty"` // "" the page gives none
	Day    string `json:"day"`              // 2026-11-24: when it was asked
}

// A Decision is the kind of answer, a word of the schema of a plan.
type Decision string

// The decisions.
const (
	Install         Decision = "install"
	InstallCPU      Decision = "install_cpu"
	UpgradeDriver   Decision = "upgrade_driver"
	PinDriverBranch Decision = "pin_driver_branch"
	FixDriver       Decision = "fix_driver"
	Partial         Decision = "partial"
	Split           Decision = "split"
	UseVendorIndex  Decision = "use_vendor_index"
	NeedTarget      Decision = "need_target"
	NoSolution      Decision = "no_solution"
)

// A Choice is one combination.
type Choice struct {
	Torch    string            `json:"torch,omitempty"` // public version; "" whatever a vendor's index holds
	Build    string            `json:"build,omitempty"`
	CUDA     string            `json:"cuda,omitempty"` // major.minor
	CuDNN    string            `json:"cudnn,omitempty"`
	Python   string            `json:"python,omitempty"`
	Channel  string            `json:"channel,omitempty"`  // pip, conda-forge, pytorch
	Index    *string           `json:"index"`              // nil: the installer's configured default index
	Packages map[string]string `json:"packages,omitempty"` // name → version with label; "" the newest that fits
	Ask      map[string]string `json:"ask,omitempty"`      // package → the requirement that is installed in its place: jax → jax[cuda13]
	URLs     map[string]string `json:"urls,omitempty"`     // package → the file that is installed, with its hash; outside every index
	Older    map[string]string `json:"older,omitempty"`    // package → why it is not its newest release: "0.50.1 needs torch>=2.4"
	Holds    []string          `json:"holds,omitempty"`    // limits of ordinary packages, which no metadata says: "numpy<2"
	Listed   *Listed           `json:"listed,omitempty"`   // torch's wheel is known by its index's page alone; nil: it was read, or is not known
	Unknown  bool              `json:"-"`                  // nobody knows whether torch's wheel exists
	Natively bool              `json:"natively,omitempty"` // the driver supports its CUDA without minor-version compatibility
	Proof    string            `json:"proof,omitempty"`
	Source   string            `json:"source,omitempty"`
	Arches   []string          `json:"arches,omitempty"` // sm_75 …, compute_120: what torch._C._cuda_getArchFlags() prints
}

// DriverChoice is what happens to the NVIDIA driver.
type DriverChoice struct {
	Action       string         `json:"action"`        // keep, upgrade, pin, install, switch-module, reboot, load, none
	Minimum      version.Dotted `json:"minimum"`       // for the choice, on this platform
	Branch       string         `json:"branch"`        // recommended where one is installed or changed
	KernelModule string         `json:"kernel_module"` // open, proprietary
}

// A Reason is one rule's word.
type Reason struct {
	Rule   string `json:"rule"` // gpu-code, driver-floor …: stable, documented
	Text   string `json:"text"`
	Source string `json:"source,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

// A Nearest is another answer and the smallest change that allows it.
type Nearest struct {
	Change string `json:"change"` // "python 3.13", "drop --cuda 13.0", "driver 580"
	Torch  string `json:"torch"`
	Build  string `json:"build"`
	Python string `json:"python,omitempty"`
	Note   string `json:"note,omitempty"` // what a reader has to know of that build: "not proven"
}

// An Environment is one group of a split.
type Environment struct {
	GPUs        []int        `json:"gpus"`
	CUDAVisible string       `json:"cuda_visible_devices"` // UUIDs where they are known, else indexes
	Choice      *Choice      `json:"choice"`
	Driver      DriverChoice `json:"driver"`
	Note        string       `json:"note,omitempty"`
}

// A Resolution is a decision and the case for it.
type Resolution struct {
	Decision    Decision
	Choice      *Choice // nil where nothing is installed
	Driver      DriverChoice
	CUDAVisible string // value for CUDA_VISIBLE_DEVICES with a partial
	Told
}

// Installed is the combination that the steps install: what fits now, or what fits after
// the driver steps where they carry them; nil for none.
func (r *Resolution) Installed(changeDriver bool) *Choice {
	switch r.Decision {
	case Install, InstallCPU, Partial, UseVendorIndex:
		return r.Choice
	case FixDriver:
		return r.Then
	case UpgradeDriver, PinDriverBranch:
		if changeDriver && r.Then != nil {
			return r.Then
		}
		if !r.Moved {
			return r.Fallback
		}
	}
	return nil
}

// Told is what is said beside a choice, by the names of the JSON of a plan.
type Told struct {
	Then         *Choice       `json:"then"`     // after the driver change
	Fallback     *Choice       `json:"fallback"` // without the driver change
	Moved        bool          `json:"-"`        // the fallback is not what was asked for: it is told, and not installed
	Environments []Environment `json:"environments"`
	VisibleGPUs  []int         `json:"visible_gpus"`
	Nearest      []Nearest     `json:"nearest"`
	Alternatives []string      `json:"alternatives"`
	Reasons      []Reason      `json:"reasons"`
	Warnings     []string      `json:"warnings"`
	HeldBack     string        `json:"held_back,omitempty"` // "torch 2.15.0 needs GPU 7.5 or newer"; "" nothing newer was held back
}

// Resolve returns the best answer for one machine. Every Request has an answer:
// where nothing fits, its Decision is NoSolution and Nearest says what would. Its
// error reports a malformed Request.
func Resolve(m *matrix.Matrix, h machine.Machine, r Request) (*Resolution, error) {
	s, err := newProblem(m, h, r)
	if err != nil {
		return nil, err
	}
	return s.advice().finish(s.chooser().besideConda(s.chooser().decide())), nil
}
