package machine

// A Running is what /proc says of one running process. It is no part of the facts:
// only `envfix doctor --pid` asks for it.
type Running struct {
	PID       int    `json:"pid"`
	User      string `json:"user,omitempty"`
	Command   string `json:"command"`          // the program and its script or module; no other arguments, which may hold secrets
	Exe       string `json:"exe,omitempty"`    // links followed
	Dir       string `json:"directory"`        // its working directory
	Env       string `json:"env,omitempty"`    // the Python environment that it runs in; "" the interpreter's own
	Unit      string `json:"unit,omitempty"`   // the service whose control group holds it
	Group     string `json:"cgroup,omitempty"` // its control group
	Elsewhere bool   `json:"container"`        // it sees other files than we do: a container

	Below []string `json:"below,omitempty"` // Pythons that it started, where it is none: "4712 python train.py"

	Torch   bool     `json:"torch_loaded"`            // libtorch is mapped
	CUDA    bool     `json:"cuda_loaded"`             // the driver's CUDA library is mapped
	Devices []string `json:"devices"`                 // of GPUs, that it has open
	Gone    []string `json:"gone,omitempty"`          // libraries that it has mapped and that were removed or replaced since
	Driver  string   `json:"driver_loaded,omitempty"` // the version in the name of the CUDA library that is mapped

	Mapped []string `json:"-"` // every library that is mapped
	Own    []string `json:"-"` // the directories of its environment
	Notes  []string `json:"-"` // what could not be read
}
