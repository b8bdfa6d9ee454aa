// Package nvmlchild is the process that loads NVIDIA's library, apart from the one
// that asks: a symbol that is missing ends it, a broken library may crash it, and a
// wedged driver stalls it. It prints lines of JSON, whose types stand here.
//
// A build with cgo starts itself as this process. NVIDIA's library is built for
// glibc, so a static build carries the process as a program of its own, dynamically
// linked, and starts that where there is a glibc.
package nvmlchild

import "fmt"

// Commands of the process: a report, and readings at an interval.
const (
	ReportCommand = "__nvml"
	SampleCommand = "__nvmlsample"
)

// UseWord asks for a report of what uses the GPUs as well.
const UseWord = "use"

// NVML's return codes that mean something to us (nvml.h).
const (
	Success         = 0
	NoPermission    = 4
	DriverNotLoaded = 9
	NoLibrary       = 12
	Mismatch        = 18
)

// A Report is what the child that loads NVIDIA's library prints, in one
// line of JSON.
type Report struct {
	Return   int      `json:"return"` // of nvmlInit
	Error    string   `json:"error,omitempty"`
	Library  string   `json:"library,omitempty"` // what was loaded; "" the loader's choice
	Driver   string   `json:"driver,omitempty"`  // nvmlSystemGetDriverVersion
	NVML     string   `json:"nvml,omitempty"`    // nvmlSystemGetNVMLVersion: the library's own
	GPUs     []GPU    `json:"gpus,omitempty"`
	Problems []string `json:"problems,omitempty"` // calls that failed
	Lost     []int    `json:"lost,omitempty"`     // what getting the handle of a GPU returned, where it is listed and out of reach
}

// A GPU is a device that NVML lists; Slices are its MIG devices.
type GPU struct {
	Name      string `json:"name"`
	Major     int    `json:"major,omitempty"`
	Minor     int    `json:"minor,omitempty"`
	UUID      string `json:"uuid,omitempty"`
	PCIDevice uint32 `json:"pci_device,omitempty"` // device<<16 | vendor
	PCISub    uint32 `json:"pci_sub,omitempty"`    // subdevice<<16 | subvendor
	PCIBus    string `json:"pci_bus,omitempty"`    // 00000000:3B:00.0
	Memory    uint64 `json:"memory,omitempty"`
	MIG       bool   `json:"mig,omitempty"` // MIG mode is on
	Slices    []GPU  `json:"slices,omitempty"`
	Use       *Use   `json:"use,omitempty"` // only in the second line, and where it was asked for
}

// Absent stands among NVML's return codes for a function that the library of
// an older driver does not have.
const Absent = -1

// A Use is what the child says of one GPU's use. A nil field is unknown;
// Failed says by the name of the fact what NVML returned. Power is in milliwatts.
type Use struct {
	Used        *uint64        `json:"used,omitempty"`
	Listed      bool           `json:"listed,omitempty"` // its processes could be read
	Processes   []Process      `json:"processes,omitempty"`
	Mode        *int           `json:"mode,omitempty"`
	Persistence *bool          `json:"persistence,omitempty"`
	Display     *bool          `json:"display,omitempty"`
	ECC         *bool          `json:"ecc,omitempty"`
	Volatile    *uint64        `json:"volatile,omitempty"`
	Aggregate   *uint64        `json:"aggregate,omitempty"`
	Remapped    *Remapped      `json:"remapped,omitempty"`
	Retiring    *bool          `json:"retiring,omitempty"`
	Reasons     *uint64        `json:"reasons,omitempty"`
	Busy        *int           `json:"busy,omitempty"`
	Temperature *int           `json:"temperature,omitempty"`
	Clock       *int           `json:"clock,omitempty"`
	MaxClock    *int           `json:"max_clock,omitempty"`
	Limit       *int           `json:"limit,omitempty"`
	Normal      *int           `json:"normal,omitempty"`
	NoPeers     []NoPeer       `json:"no_peers,omitempty"`
	Failed      map[string]int `json:"failed,omitempty"`
}

// A NoPeer is a GPU whose memory another cannot reach: its index, and the
// nvmlGpuP2PStatus_t that says why.
type NoPeer struct {
	Index  int `json:"index"`
	Status int `json:"status"`
}

// A Process uses a GPU, as NVML lists it; Memory is in bytes, nil: not told.
type Process struct {
	PID    uint32  `json:"pid"`
	Kind   string  `json:"kind"`
	Memory *uint64 `json:"memory,omitempty"`
}

// Remapped are the rows of a GPU's memory that were replaced by others (nvmlDeviceGetRemappedRows).
type Remapped struct {
	Correctable   int  `json:"correctable"`
	Uncorrectable int  `json:"uncorrectable"`
	Pending       bool `json:"pending"`
	Failed        bool `json:"failed"`
}

// Words names NVML's error in a sentence, with the library's words as they are; "" for a success.
func (r *Report) Words() string {
	switch r.Return {
	case Success:
		return ""
	case DriverNotLoaded:
		return "nvml: the NVIDIA kernel module is not loaded"
	case NoLibrary:
		return "nvml: library not found"
	case Mismatch:
		return "nvml: NVIDIA's library and the loaded kernel module are of different versions"
	case NoPermission:
		return "nvml: no permission to talk to the driver"
	}
	return fmt.Sprintf("nvml: error %d: %s", r.Return, r.Error)
}
