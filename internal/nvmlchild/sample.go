package nvmlchild

// A SampledGPU is the constant part of a device that is sampled. Memory is in
// MiB, Clock in MHz, PowerLimit and the default one in watts. Zero means not supported.
type SampledGPU struct {
	Index        int     `json:"index"`
	Name         string  `json:"name,omitempty"`
	UUID         string  `json:"uuid,omitempty"`
	Major        int     `json:"major,omitempty"`
	Minor        int     `json:"minor,omitempty"`
	Memory       int64   `json:"memory,omitempty"`
	Clock        int     `json:"clock,omitempty"`
	Cores        int     `json:"cores,omitempty"`
	PowerLimit   float64 `json:"power_limit,omitempty"`
	PowerDefault float64 `json:"power_default,omitempty"`
	MaxGen       int     `json:"max_gen,omitempty"`
	MaxWidth     int     `json:"max_width,omitempty"`
	MIG          bool    `json:"mig,omitempty"`
	Processes    bool    `json:"processes,omitempty"` // its process list can be read
}

// A Reading is one GPU at one moment. Utils are percent since the last reading,
// none where it is not supported; a negative Rx, SMBusy or Tensor is unknown.
type Reading struct {
	Utils   []float64  `json:"u,omitempty"`
	Used    int64      `json:"m,omitempty"` // MiB
	Clock   int        `json:"c,omitempty"` // MHz
	Temp    int        `json:"t,omitempty"` // °C
	Reasons uint64     `json:"r,omitempty"` // nvmlClocksEventReasons
	Power   float64    `json:"w,omitempty"` // watts; 0 unknown
	Gen     int        `json:"g,omitempty"`
	Width   int        `json:"x,omitempty"`
	Rx      float64    `json:"rx"` // MB/s towards the GPU
	SMBusy  float64    `json:"sm"` // percent
	Tensor  float64    `json:"te"`
	Procs   [][2]int64 `json:"p,omitempty"` // PID and MiB
	Lost    bool       `json:"lost,omitempty"`
}

// A SampleLine is a line of the child: GPUs in the first, readings in the rest,
// in the order of the first.
type SampleLine struct {
	GPUs     []SampledGPU `json:"gpus,omitempty"`
	Readings []Reading    `json:"readings,omitempty"`
	Error    string       `json:"error,omitempty"` // why there are none
}
