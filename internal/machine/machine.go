// Package machine describes one computer as envfix sees it: facts, their JSON
// form and their fingerprint. It holds no I/O; package probe gathers the facts.
package machine

import "envfix/internal/version"

// Format is the number of the facts' JSON form.
const Format = 1

// A Machine is everything envfix takes from a host. It round-trips through JSON
// (`envfix facts --json`), so a plan made from a file on a laptop is the plan
// that the host itself would make. A missing optional field means unknown.
type Machine struct {
	Format    int               `json:"format"`
	Platform  Platform          `json:"platform"`
	Privilege string            `json:"privilege,omitempty"` // root, sudo, none
	GPUs      []GPU             `json:"gpus"`                // in the order of their index
	Driver    *Driver           `json:"driver"`              // NVIDIA's; nil: none
	Toolkits  []Toolkit         `json:"cuda_toolkits"`
	Pythons   []Python          `json:"pythons"`
	Installed []Package         `json:"installed"` // in the active or target environment
	Tools     []Tool            `json:"tools"`
	Env       map[string]string `json:"env"`   // only the variables that matter
	Notes     []string          `json:"notes"` // what could not be read, and why

	LibraryDirs []LibraryDir `json:"library_dirs,omitempty"` // the entries of LD_LIBRARY_PATH
	KernelLog   *KernelLog   `json:"kernel_log,omitempty"`   // what the kernel says of GPUs; nil: not asked

	// DriverPackages is what the package manager says of the driver; nil: not asked.
	DriverPackages *DriverPackages `json:"driver_packages,omitempty"`
}

// A Platform is what wheels are built for, and what a driver is installed with.
type Platform struct {
	OS            string `json:"os"`                       // linux, windows, macos
	Arch          string `json:"arch"`                     // x86_64, aarch64, arm64 (macOS, Windows)
	Distro        string `json:"distro,omitempty"`         // ID of os-release: ubuntu, debian, rhel …
	DistroLike    string `json:"distro_like,omitempty"`    // ID_LIKE of os-release
	DistroVersion string `json:"distro_version,omitempty"` // VERSION_ID of os-release
	Libc          *Libc  `json:"libc"`                     // nil off Linux
	Kernel        string `json:"kernel,omitempty"`         // release, as uname -r
	Environment   string `json:"environment,omitempty"`    // see the Env constants; "" means bare
	SecureBoot    *bool  `json:"secure_boot,omitempty"`
	BootID        string `json:"boot_id,omitempty"`
	L4T           string `json:"l4t,omitempty"`     // Jetson: release of Linux for Tegra, such as 36.4.0
	Product       string `json:"product,omitempty"` // of a cloud's machine, as its firmware says: Amazon EC2 g5.xlarge
}

// The values of Platform.Environment.
const (
	Bare           = "bare"
	WSL2           = "wsl2"
	Container      = "container"
	ContainerBuild = "container-build" // an image build: no driver to see
	Jetson         = "jetson"
	HPCLogin       = "hpc-login"
)

// A Libc is the C library of a Linux system.
type Libc struct {
	Kind    string         `json:"kind"`             // glibc, musl
	Version version.Dotted `json:"version,omitzero"` // zero: unknown
}

// A GPU is one device, or one MIG slice of one.
type GPU struct {
	Index        int    `json:"index"`
	Vendor       string `json:"vendor"` // nvidia, amd, intel, apple
	Name         string `json:"name"`
	SM           SM     `json:"compute_capability,omitzero"` // zero: unknown, or not NVIDIA's
	UUID         string `json:"uuid,omitempty"`
	PCIID        string `json:"pci_id,omitempty"` // vendor:device in lower case, such as 10de:1db5
	Subsystem    string `json:"pci_subsystem,omitempty"`
	PCIAddress   string `json:"pci_address,omitempty"` // 0000:3b:00.0
	MemoryBytes  int64  `json:"memory_bytes,omitempty"`
	Visible      bool   `json:"visible"`                 // false: on the bus but not usable through the driver
	Integrated   bool   `json:"integrated"`              // shares the CPU's memory
	MIG          string `json:"mig,omitempty"`           // profile of the slice, such as 1g.10gb; "" whole GPU
	GFX          string `json:"gfx,omitempty"`           // AMD's target, such as gfx1100
	KernelDriver string `json:"kernel_driver,omitempty"` // bound on the bus: nvidia, nouveau, vfio-pci, amdgpu, i915, xe
	Evidence     string `json:"evidence,omitempty"`

	MIGMode bool    `json:"mig_mode,omitempty"` // MIG is on and no instance was made: nothing can use it
	Fault   string  `json:"fault,omitempty"`    // lost, reset_required, unknown: NVML lists it and cannot reach it
	Use     *GPUUse `json:"use,omitempty"`      // nil: not asked, or nobody could tell
}

// The values of GPU.Fault.
const (
	FaultLost    = "lost"           // NVML_ERROR_GPU_IS_LOST: it fell off the bus
	FaultReset   = "reset_required" // NVML_ERROR_RESET_REQUIRED
	FaultUnknown = "unknown"        // NVML_ERROR_UNKNOWN for this GPU alone
)

// The values of GPU.Vendor.
const (
	NVIDIA = "nvidia"
	AMD    = "amd"
	Intel  = "intel"
	Apple  = "apple"
)

// A Driver is the installed NVIDIA driver.
type Driver struct {
	Version       version.Dotted `json:"version"`                 // of the user-space library; on Windows and WSL of the Windows driver
	KernelModule  string         `json:"kernel_module,omitempty"` // open, proprietary
	LoadedVersion version.Dotted `json:"loaded_version,omitzero"` // of the kernel module; zero: unknown or not loaded
	NotLoaded     bool           `json:"not_loaded,omitempty"`    // user space is installed and the kernel module is not loaded
	Evidence      string         `json:"evidence,omitempty"`
	RunFile       bool           `json:"run_file,omitempty"` // installed by NVIDIA's .run file, not by packages
}

// The values of Evidence.
const (
	FromNVML   = "nvml"
	FromProc   = "proc" // /proc/driver/nvidia/version, /sys/module/nvidia/version
	FromSMI    = "nvidia-smi"
	FromPCI    = "pci"  // the bus and the device table
	FromKFD    = "kfd"  // /sys/class/kfd/kfd/topology
	FromFlag   = "flag" // --gpu, --driver
	FromSysctl = "sysctl"
)

// A Toolkit is a CUDA toolkit on disk. It says nothing about the driver.
type Toolkit struct {
	Version version.Dotted `json:"version"`
	Path    string         `json:"path"`
}

// A Python is an interpreter on disk.
type Python struct {
	Version           string `json:"version"` // 3.12.4
	Path              string `json:"path"`
	Active            bool   `json:"active,omitempty"`
	ExternallyManaged bool   `json:"externally_managed,omitempty"` // PEP 668
	NoEnsurepip       bool   `json:"no_ensurepip,omitempty"`       // it makes no environment with pip: Debian packages that apart
	FreeThreaded      bool   `json:"free_threaded,omitempty"`
	Source            string `json:"source,omitempty"` // system, uv, pyenv, conda, venv; in a plan also distribution: not here yet
	Arch              string `json:"arch,omitempty"`   // where it differs from the platform's
}

// A Package is one distribution found in an environment, read from its dist-info; CUDA
// is what torch/version.py says, "" where it says that there is none, and nil where it
// says nothing or names ROCm or XPU.
type Package struct {
	Name     string   `json:"name"`    // normalised (PEP 503)
	Version  string   `json:"version"` // with its local label
	CUDA     *string  `json:"cuda,omitempty"`
	Requires []string `json:"requires,omitempty"` // Requires-Dist lines that name torch or its companions
	Path     string   `json:"path,omitempty"`
}

// A LibraryDir is one entry of LD_LIBRARY_PATH.
type LibraryDir struct {
	Path  string   `json:"path"`
	Files []string `json:"files"`          // shared libraries in it that a wheel of torch brings too; nil: not read
	From  string   `json:"from,omitempty"` // file:line that adds it; "" unknown

	Origins []Origin `json:"origins,omitempty"` // every place that adds it; the first is From
}

// A Tool is a program that a plan may use.
type Tool struct {
	Name    string `json:"name"` // uv, pip, conda, mamba, micromamba, apt-get, dnf, zypper, ubuntu-drivers …
	Version string `json:"version,omitempty"`
	Path    string `json:"path"`
}
