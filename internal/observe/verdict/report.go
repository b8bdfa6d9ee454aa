package verdict

import (
	"cmp"
	"slices"
)

// A GPUReport is one GPU in the report. A missing number was not measurable;
// it is never printed as 0.
type GPUReport struct {
	Index       int      `json:"index"`
	Name        string   `json:"name,omitempty"`
	UUID        string   `json:"uuid,omitempty"`
	Used        bool     `json:"used"`
	UtilMean    *float64 `json:"util_mean,omitempty"` // percent
	IdleShare   *float64 `json:"idle_share,omitempty"`
	MemoryPeak  int64    `json:"memory_peak_mib"`
	Ours        *int64   `json:"memory_ours_mib,omitempty"`
	MemoryTotal int64    `json:"memory_total_mib,omitempty"`
	PowerMean   *float64 `json:"power_mean_w,omitempty"`
	Temperature *int     `json:"temperature_max_c,omitempty"`
	ClockShare  *float64 `json:"clock_share,omitempty"` // of the highest, while active
	LinkShare   *float64 `json:"link_share,omitempty"`
	RxMean      *float64 `json:"pcie_rx_mb_s,omitempty"`
	SMActive    *float64 `json:"sm_active,omitempty"` // percent
	Tensor      *float64 `json:"tensor_active,omitempty"`
	Tenants     []Tenant `json:"other_processes,omitempty"`
}

// A ProcessReport is one process of the job in the report.
type ProcessReport struct {
	PID     int      `json:"pid"`
	Name    string   `json:"name"`
	Command string   `json:"command,omitempty"`
	Role    string   `json:"role"` // main, rank, worker, other
	Rank    *int     `json:"rank,omitempty"`
	Cores   float64  `json:"cores"` // CPU cores used on average
	RSS     int64    `json:"rss_mib"`
	Steps   uint64   `json:"steps,omitempty"`
	Torch   string   `json:"torch,omitempty"`
	CUDA    string   `json:"cuda,omitempty"`
	Load    *float64 `json:"loader_share,omitempty"`
	Try     *Try     `json:"try,omitempty"`
	Deep    []string `json:"deep,omitempty"`
	Kernels bool     `json:"deep_kernels,omitempty"`    // Deep holds what ran on a GPU, else operators of the CPU
	Parts   []Part   `json:"step_parts,omitempty"`      // of a step, as Python sees it
	Unit    string   `json:"unit,omitempty"`            // what counts as a step; "" the optimizer's
	Looks   int      `json:"looks,omitempty"`           // at the loop, that step_parts are of
	Passes  float64  `json:"passes_per_step,omitempty"` // forward and backward; 1 unless gradients are accumulated
}

func (n num) ptr() *float64 {
	if !n.ok {
		return nil
	}
	v := round(n.v)
	return &v
}

func gpuReports(f *facts) []GPUReport {
	out := []GPUReport{}
	for i, g := range f.t.GPUs {
		s := f.gpus[i]
		r := GPUReport{Index: g.Index, Name: g.Name, UUID: g.UUID, MemoryPeak: f.whole[i].Used, MemoryTotal: g.Memory, Tenants: g.Tenants, Used: slices.Contains(f.used, i),
			UtilMean: s.util().ptr(), IdleShare: s.idle().ptr(), PowerMean: ratio(s.Power, s.PowerN).ptr(),
			ClockShare: ratio(s.Clock, s.Active).ptr(), LinkShare: ratio(s.Link, s.LinkN).ptr(), RxMean: ratio(s.Rx, s.RxN).ptr(),
			SMActive: ratio(s.SMBusy, s.GPMN).ptr(), Tensor: s.tensor().ptr()}
		if g.Attributed {
			r.Ours = &f.whole[i].Ours
		}
		if t := f.whole[i].Temp; t > 0 {
			r.Temperature = &t
		}
		out = append(out, r)
	}
	return out
}

func processReports(f *facts) []ProcessReport {
	out := []ProcessReport{}
	for i := range f.t.Processes {
		p := &f.t.Processes[i]
		r := ProcessReport{PID: p.PID, Name: p.Name, Command: p.Command, Role: "other", RSS: p.RSS}
		if p.Wall > 0 {
			r.Cores = round(p.CPU / p.Wall)
		}
		switch {
		case p.Worker:
			r.Role = "worker"
		case p == f.lead && f.world() == 1:
			r.Role = "main"
		case p.Probe != nil && p.Probe.Page.Steps > 0:
			r.Role = "rank"
		}
		if b := p.Probe; b != nil {
			r.Rank, r.Steps, r.Torch, r.CUDA, r.Try, r.Deep = b.Rank, b.Page.Steps, b.Version, b.CUDA, b.Try, b.Deep
			r.Kernels = b.Kernels
			if b.Burst != nil {
				r.Passes = round(b.Burst.perStep())
			}
			r.Parts, r.Unit = b.parts(), b.Page.Unit
			r.Looks = cmp.Or(b.Where, &Where{}).Count
			if b.Page.Step > 0 && b.Page.Batches > 0 {
				r.Load = known(min(1, b.Page.Load/b.Page.Step)).ptr()
			}
		}
		out = append(out, r)
	}
	return out
}
