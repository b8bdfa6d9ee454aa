// Package verdict says why a job does not use its GPU: from a Trace (what was
// seen of the job) to a Report (at most two causes, each with its numbers). It
// is pure: no clock, no files, no environment. The same Trace gives the same
// Report, so a recording can be judged again anywhere.
package verdict

import (
	"slices"

	"envfix/internal/machine"
)

// Format is the number of the trace's and the report's JSON form.
const Format = 1

// A Trace is everything that was seen of one job. Times are seconds since the
// job's start, sizes are MiB unless the name says otherwise.
type Trace struct {
	Format    int       `json:"format"`
	Command   []string  `json:"command,omitempty"`
	Seconds   float64   `json:"seconds"`
	Exit      int       `json:"exit"`             // as a shell reports it; 0 while the job runs
	Signal    string    `json:"signal,omitempty"` // that killed the job
	Running   bool      `json:"running,omitempty"`
	Host      Host      `json:"host"`
	GPUs      []GPU     `json:"gpus"`
	Frames    []Frame   `json:"frames"`
	Processes []Process `json:"processes"`
	Notes     []string  `json:"notes,omitempty"` // what could not be measured here, and why

	// Doctor is what `envfix doctor` says first of the machine and the job's Python,
	// where no GPU was seen; nil: it was not asked, or found nothing.
	Doctor *Diagnosis `json:"doctor,omitempty"`
}

// A Diagnosis is the first finding of `envfix doctor`.
type Diagnosis struct {
	Check   string   `json:"check"`
	Text    string   `json:"text"`
	Fix     []string `json:"fix"`
	Command string   `json:"command,omitempty"` // that says the whole of it; "" envfix doctor
}

// AsksDoctor reports whether there was no GPU at all for a job that uses PyTorch, or
// that failed before it could: of another's, what doctor says of a torch is no answer.
func (t *Trace) AsksDoctor() bool {
	f := gather(t)
	return f.noGPU && (f.lead.Probe != nil || f.lead.Torch != "" || t.Exit != 0 && t.Signal == "")
}

// A Host is what the job may use of its machine besides GPUs.
type Host struct {
	CPUs         float64 `json:"cpus"`                    // of the affinity mask
	Quota        float64 `json:"quota,omitempty"`         // CPUs that the cgroup allows; 0: no limit
	Throttled    float64 `json:"throttled,omitempty"`     // share of the quota's periods that were throttled
	MemoryLimit  int64   `json:"memory_limit,omitempty"`  // of the cgroup
	MemoryPeak   int64   `json:"memory_peak,omitempty"`   // of the job's processes
	AddressLimit int64   `json:"address_limit,omitempty"` // MiB that a process may map (ulimit -v); 0: no limit
	OOMKills     int     `json:"oom_kills,omitempty"`     // by the kernel, during the job
	ShmTotal     int64   `json:"shm_total,omitempty"`     // of /dev/shm
	ShmLow       int64   `json:"shm_low,omitempty"`       // the least that was free
	Visible      *string `json:"cuda_visible_devices,omitempty"`
	OtherGPU     string  `json:"other_gpu,omitempty"` // a GPU that NVML does not know: amd, intel, apple, or nvidia on the bus without NVML
}

// Allowed is the number of CPUs the job can really use.
func (h Host) Allowed() float64 {
	if h.Quota > 0 && (h.CPUs == 0 || h.Quota < h.CPUs) {
		return h.Quota
	}
	return h.CPUs
}

// A GPU is the constant part of one device.
type GPU struct {
	Index        int        `json:"index"`
	Name         string     `json:"name,omitempty"`
	UUID         string     `json:"uuid,omitempty"`
	SM           machine.SM `json:"compute_capability,omitzero"`
	Memory       int64      `json:"memory,omitempty"`
	Clock        int        `json:"max_sm_mhz,omitempty"`
	Cores        int        `json:"cores,omitempty"`
	PowerLimit   float64    `json:"power_limit_w,omitempty"`
	PowerDefault float64    `json:"power_default_w,omitempty"` // the limit that the card was made for; 0 unknown
	Link         string     `json:"max_link,omitempty"`        // such as Gen5 x16
	LinkMBs      float64    `json:"link_mb_s,omitempty"`       // of the link as it was under load
	MIG          bool       `json:"mig,omitempty"`
	Attributed   bool       `json:"attributed,omitempty"` // its process list could be read and compared with the job's processes
	Tenants      []Tenant   `json:"tenants,omitempty"`    // processes on it that are not the job's
	Before       *int64     `json:"before,omitempty"`     // memory in use before the job could touch it
	Lost         bool       `json:"lost,omitempty"`       // NVML said the device is gone
}

// A Tenant is a process of somebody else on a GPU.
type Tenant struct {
	PID    int    `json:"pid"`
	User   string `json:"user,omitempty"`
	Name   string `json:"name,omitempty"`
	Memory int64  `json:"memory"`
}

// A Frame is a stretch of time. Its GPU numbers are sums over samples, so two
// frames merge by addition and nothing but resolution is lost.
type Frame struct {
	At    float64    `json:"t"`
	Span  float64    `json:"d"`
	GPUs  []GPUFrame `json:"g,omitempty"`     // by position in Trace.GPUs
	CPU   float64    `json:"cpu,omitempty"`   // CPU seconds of the process tree
	RSS   int64      `json:"rss,omitempty"`   // of the process tree, at most
	Steps uint64     `json:"steps,omitempty"` // of the leading process
	Load  float64    `json:"load,omitempty"`  // seconds it waited for its loader
}

// A GPUFrame is what one GPU did in a frame. N counts samples of utilisation; 0
// means that it is not measurable here (MIG, WSL), which is not the same as idle.
type GPUFrame struct {
	N      int     `json:"n,omitempty"`
	Idle   int     `json:"i,omitempty"`  // samples below 5 %
	Util   float64 `json:"u,omitempty"`  // sum of percent
	High   int     `json:"hi,omitempty"` // samples of 80 % and more
	Used   int64   `json:"m,omitempty"`  // memory of all processes, at most
	Ours   int64   `json:"o,omitempty"`
	Theirs int64   `json:"x,omitempty"`
	Active int     `json:"a,omitempty"`  // samples above 20 % whose clock is known
	Clock  float64 `json:"c,omitempty"`  // sum over active samples of clock / highest clock
	Hot    int     `json:"h,omitempty"`  // active samples slowed by heat with the clock below 90 %
	Capped int     `json:"p,omitempty"`  // the same by a power limit
	Brake  int     `json:"b,omitempty"`  // the same by the board's power brake
	Temp   int     `json:"t,omitempty"`  // °C, at most
	PowerN int     `json:"wn,omitempty"` // samples of power
	Power  float64 `json:"w,omitempty"`  // sum of watts
	LinkN  int     `json:"ln,omitempty"` // active samples of the PCIe link
	Link   float64 `json:"l,omitempty"`  // sum over them of link / best link
	RxN    int     `json:"rn,omitempty"`
	Rx     float64 `json:"r,omitempty"` // sum of MB/s towards the GPU
	GPMN   int     `json:"gn,omitempty"`
	SMBusy float64 `json:"sm,omitempty"` // sum of percent of the SMs at work
	Tensor float64 `json:"te,omitempty"` // sum of percent of the tensor pipe at work
}

// Plus adds two frames up.
func (a GPUFrame) Plus(b GPUFrame) GPUFrame {
	return GPUFrame{
		N: a.N + b.N, Idle: a.Idle + b.Idle, Util: a.Util + b.Util, High: a.High + b.High,
		Used: max(a.Used, b.Used), Ours: max(a.Ours, b.Ours), Theirs: max(a.Theirs, b.Theirs),
		Active: a.Active + b.Active, Clock: a.Clock + b.Clock, Hot: a.Hot + b.Hot, Capped: a.Capped + b.Capped, Brake: a.Brake + b.Brake,
		Temp: max(a.Temp, b.Temp), PowerN: a.PowerN + b.PowerN, Power: a.Power + b.Power,
		LinkN: a.LinkN + b.LinkN, Link: a.Link + b.Link, RxN: a.RxN + b.RxN, Rx: a.Rx + b.Rx,
		GPMN: a.GPMN + b.GPMN, SMBusy: a.SMBusy + b.SMBusy, Tensor: a.Tensor + b.Tensor,
	}
}

// Plus merges a frame with the one that follows it.
func (a Frame) Plus(b Frame) Frame {
	out := Frame{At: a.At, Span: a.Span + b.Span, CPU: a.CPU + b.CPU, RSS: max(a.RSS, b.RSS),
		Steps: max(a.Steps, b.Steps), Load: a.Load + b.Load}
	out.GPUs = append(slices.Clone(a.GPUs), make([]GPUFrame, max(0, len(b.GPUs)-len(a.GPUs)))...)
	for i, g := range b.GPUs {
		out.GPUs[i] = out.GPUs[i].Plus(g)
	}
	return out
}

// Halve merges neighbouring frames in pairs: half the frames, the same sums.
func Halve(frames []Frame) []Frame {
	out := make([]Frame, 0, (len(frames)+1)/2)
	for i := 0; i < len(frames); i += 2 {
		f := frames[i]
		if i+1 < len(frames) {
			f = f.Plus(frames[i+1])
		}
		out = append(out, f)
	}
	return out
}
