// Package read turns text, or what was read of a machine, into a [Case]: facts, each
// with where it was read. It judges nothing.
package read

import (
	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"
	"strings"
)

// A Case is everything that is known of a machine, or of what somebody pasted. A
// zero field is unknown, never absent.
type Case struct {
	Matrix  *matrix.Matrix      // nil: checks that need it find nothing
	Devices *matrix.DeviceTable // nil: names of GPUs say nothing

	Standing resolver.Request // what holds whatever is asked of the resolver: the team's policy, the day, flags

	Pasted bool     // from text; false: this machine
	Read   int      // facts and messages read from text; zero: nothing to go by
	Notes  []string // what could not be read

	Machine machine.Machine
	From    Sources // where the facts of Machine were read
	Place   Place
	GPUs
	Torch Torch
	SMI   SMI
	Environment

	Hits       []Hit
	Printed    []Printed
	Clues      []ClueHit
	Says       Words
	Subject    Subject
	Jobs       Jobs
	Did        Commands
	Containers Containers
}

// GPUs is what is known of the GPUs beside machine.GPU.
type GPUs struct {
	Listed bool // they come from a list that is complete

	Instances []string // the UUIDs of the MIG instances that nvidia-smi lists
	Bus       []string // NVIDIA's, that lspci lists
	Used      []Usage  // memory in use, from nvidia-smi
	Memory    []Allocation
}

// An Environment is what is installed, and what an installer found.
type Environment struct {
	Packages      []Package
	Libraries     []Library
	Files         *machine.EnvFiles // what the files of the environment say; nil: not read
	Around        *machine.Around   // what stands around the GPUs; nil: not looked at
	Running       *machine.Running  // the process that was asked for; nil: none
	Imported      *Imported         // what Python says of torch; nil: not asked
	Interpreters  []Interpreter     // values of sys.executable
	TorchLocation string            // where `pip show torch` says that it lies
	DriverPackage version.Dotted    // the driver package that is installed
	WithoutGPU    bool              // it was made for no GPU, and proved
	Labels        []string          // of builds that are named: cu128
	Replaced      Replacement       // torch gave way to another; zero: not said
	Offered       []string          // versions of torch that an installer found on its index
}

// Sources says where each fact of a machine was read.
type Sources struct {
	OS, Arch, PythonArch, Libc, Python, Toolkit Evidence

	GPU, Capability, GFX, GFXList, Bus Evidence
	Instances, Undivided               Evidence // of MIG: those that are listed; that none is
	Driver, Module, Package, Mismatch  Evidence // the library's version, the kernel module's, a package's; "driver/library version mismatch"
	NoProcesses                        Evidence // nvidia-smi lists no process
	NoGPU, NoDriver                    Evidence // collect_env found none
	TorchLocation                      Evidence
	Env                                map[string]Evidence // by the variable's name
}

// Words is what people say of the matter themselves.
type Words struct {
	Torch       Evidence // torch is named
	Other       Evidence // code or an installer names a program that brings a CUDA of its own
	Extensions  []string // packages with compiled modules that the text names
	Unseen      Evidence // no GPU is seen or used
	NoGPU       Evidence // the machine has none, and that is known
	ROCm        Evidence // torch for ROCm is meant
	NotServed   Evidence // the GPU is not supported any more
	OldArch     Evidence // a generation before Turing
	OpenModule  Evidence // the open kernel module
	TwoVersions Evidence // the list of packages says one version, and Python another
	CUDA        Evidence // the CUDA that they have
	CUDAVersion version.Dotted
	OutOfMemory Evidence
	NotSeen     Evidence // "GPU not detected", in so many words
	Fails       Evidence // a command fails
	ComfyUI     Evidence
	Finished    Evidence // work on the GPU succeeded
	Idle        Evidence // the GPU does nothing
	GPUs        int      // how many GPUs there are; 0: not said
	Branch      int      // of a driver whose whole version is not said; 0: not said
	BranchAt    Evidence
	SMIInside   Evidence // nvidia-smi works within the container
	Trouble     bool     // in few words: something is wrong
	Asks        bool     // something is wrong, in so many words, or somebody asks
	MemoryFree  Evidence // of a GPU, as somebody says who looked
}

// Commands is what was done, or what a script does.
type Commands struct {
	Index           Evidence // an index of PyTorch's was named
	PipTorch        Evidence // pip, or one like it, was asked for torch
	CondaInstall    Evidence
	CondaCUDA       Evidence // conda was asked for a CUDA
	CondaCUDAAsked  string   // … in these words: cudatoolkit=11.8
	Launch          Evidence // one process per GPU was started, with their number
	Processes       int
	ImportTorch     Evidence
	CallsModel      Evidence // a script calls a model
	Moves           Evidence // a script puts something on a device
	SetDevices      Evidence // a script sets CUDA_VISIBLE_DEVICES
	Building        Evidence // something is compiled
	IsolatedBuild   Evidence // by pip, in an environment of its own
	UV              Evidence // uv installs
	UVProject       Evidence // uv installs what pyproject.toml and uv.lock say
	EmbeddedPython  Evidence // the Python that ComfyUI and others bring along
	AskedCPU        Evidence // the CPU was asked for
	Redistributable Evidence // Visual C++'s runtime was installed
	Rebooted        Evidence // the machine was started anew since
	Ran             []string // what root was asked to do, with what is around it
	InVain          []string // remedies, as doctor prints them, that were carried out and did not help
}

// Containers is how containers are started and built, as text describes it.
type Containers struct {
	Workloads     []*Workload
	Image         Dockerfile
	Runtime       string   // an image of PyTorch's or NVIDIA's without what compiles: …-runtime
	Runtimes      Evidence // that docker knows
	NVIDIARuntime Evidence
	Toolkit       Evidence // NVIDIA's container toolkit is installed
	NoCgroups     Evidence
}

// A Place is where the patient runs, as far as text says.
type Place struct {
	Container Evidence // docker, podman, kubernetes, singularity, LXC
	WSL       Evidence
	Jetson    Evidence
	Cluster   Evidence // Slurm and the like
	Conda     Evidence
	Colab     Evidence
	MacOS     Evidence
	Kernels   Kernels
	LXC       Evidence // an LXC or LXD guest
	Raspberry Evidence // a Raspberry Pi
	L4TAt     Evidence // where the release of a Jetson's system was read

	Starter     string // of its containers, where it is not docker: podman, kubernetes, pyxis; "" not told
	Interpreter string // of the virtual environment whose files a traceback names; "" not told
	Pipx        string // the program that pipx installed, in an environment of its own

	WindowsBuild   int // 19045 is Windows 10 22H2; 0: not said
	WindowsBuildAt Evidence
}

// Kernels are those that NVIDIA's module was built for, as `dkms status` lists them, and the
// one that runs.
type Kernels struct {
	Built   []string
	Running string

	BuiltAt, RunningAt Evidence
}

// Torch is the torch that is imported, or would be.
type Torch struct {
	Version   string // public version; "" unknown
	Label     string // cu126, cpu, rocm6.4 …; "" none or unknown
	CUDA      version.Dotted
	NoCUDA    bool         // it says itself that it was built without CUDA
	HIP       string       // torch.version.hip
	Available *bool        // torch.cuda.is_available()
	Arches    []machine.SM // cubins
	PTX       []machine.SM // beside Arches
	Range     []machine.SM // the least and the greatest that a warning names; nil: none
	Path      string       // of torch/__init__.py

	VersionAt, CUDAAt, AvailableAt, ArchesAt Evidence

	Rank int // how good the source of the version is: ByProse to ByTorch
}

// SMI is what nvidia-smi said beyond the facts of the machine.
type SMI struct {
	CUDA version.Dotted
	At   Evidence
}

// A Package is one row of a list of packages.
type Package struct {
	Name    string // normalised
	Version string // with its label
	Build   string // conda's build string
	Channel string // conda's channel; pypi: installed by pip
	Tool    string // pip, conda
	Path    string // of its dist-info, on this machine
	At      Evidence
}

// A Library is one shared library as the loader finds it.
type Library struct {
	Name string // libcudnn.so.9
	Path string
	At   Evidence
}

// An Allocation holds the numbers of one "out of memory" message, in bytes.
type Allocation struct {
	Total, Free, Tried int64
	Ours               int64    // reserved or in use by this process; -1 unknown
	Others             int64    // of other processes as the message lists them
	Holders            []string // the numbers of those processes, the greatest first
	At                 Evidence
}

// CondaAsked is the package by which conda was asked for a CUDA, and that CUDA; "" it was not.
func (d Commands) CondaAsked() (name string, cuda version.Dotted) {
	name = strings.TrimRight(d.CondaCUDAAsked, "= .0123456789")
	cuda, _ = version.ParseDotted(strings.TrimLeft(d.CondaCUDAAsked[len(name):], "= ")) // zero: it was not
	return name, cuda
}
