package machine

// Around is what stands around the GPUs of a machine. It is no part of the facts: only
// `envfix doctor` asks for it, on the machine itself.
type Around struct {
	Switches  int       // NVSwitches on the PCI bus
	Fabric    *Fabric   // nil: not looked for, as in a container, which sees no other's processes
	CDI       []CDISpec // descriptions of NVIDIA's devices for containers
	SharedMem *SharedMem
	Addresses int64    // bytes that a process of this shell may map (RLIMIT_AS); 0: no limit, or not read
	Locked    int64    // … may lock (RLIMIT_MEMLOCK), where there is InfiniBand
	Stack     int64    // bytes of a thread's stack (RLIMIT_STACK); 0: no limit, or not read
	Files     int64    // files that it may open (RLIMIT_NOFILE, the hard limit: Go raises its own soft one)
	Kernels   []Kernel // of Jupyter's, that this user sees
	Nodes     []DeviceNode
	Networks  []string // the network interfaces; nil: not read
}

// A Kernel is one of Jupyter's: the Python that a notebook runs in, as its kernel.json says.
type Kernel struct {
	Name   string
	Spec   string // its kernel.json
	Python string // the program that Jupyter starts
	Own    bool   // it lies in the user's own directory
	Torch  string // the version that this Python imports; "" none was found
	CUDA   bool   // … which was built with CUDA, ROCm or XPU
}

// Fabric is the fabric manager, which sets up NVSwitches.
type Fabric struct {
	Running bool
	Package string // its package's version, without what the distribution adds; "" unknown
}

// A CDISpec is one file of the Container Device Interface that names NVIDIA's devices.
type CDISpec struct {
	File   string
	Gone   []string // devices and libraries that it names and that are not there; a few
	Driver string   // of the libraries that it names; "" none has a version in its name
}

// SharedMem is /dev/shm.
type SharedMem struct {
	Size, Free int64  // bytes
	Fault      string // why it cannot be used, in the kernel's words; "" it can
}

// A DeviceNode is a file of /dev through which programs reach a GPU, where it is not as it
// should be.
type DeviceNode struct {
	Path string
	Is   string // see the Node constants
}

// BarredBy is what a note says between the file that keeps the kernel module from being loaded
// and its line.
const BarredBy = " keeps the kernel module nvidia from being loaded: "

// NotBuiltFor is what a note says before the running kernel, where no module was built for it.
const NotBuiltFor = " for the running kernel "

// The values of DeviceNode.Is.
const (
	NodeMissing = "missing"
	NodeClosed  = "closed"  // this user may not open it
	NodeNoDev   = "nodev"   // its file system is mounted so that no device on it can be opened
	NodePlain   = "plain"   // a file or a directory, and no device
	NodeForeign = "foreign" // made for another driver: its major number is not the driver's
)
