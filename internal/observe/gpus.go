package observe

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"envfix/internal/machine"
	"envfix/internal/nvmlchild"
	"envfix/internal/observe/verdict"
	"envfix/internal/probe/gpu"
	"envfix/internal/proc"
	"envfix/internal/text"
)

// A gpuLane is the outside view of the GPUs: the child that reads NVML, and
// what it said.
type gpuLane struct {
	sampler *gpu.Sampler
	lines   <-chan nvmlchild.SampleLine
	note    string // why there is nothing
	gpus    []verdict.GPU
	static  []nvmlchild.SampledGPU
	latest  []nvmlchild.Reading
	host    bool // PIDs here are the machine's
	started time.Time
	tenants map[[2]int]verdict.Tenant // by GPU and PID
}

func startGPUs(o Options) *gpuLane {
	g := &gpuLane{host: proc.Self.HostPIDs(), started: time.Now(), tenants: map[[2]int]verdict.Tenant{}}
	if o.Self == "" {
		g.note = "GPUs were not watched"
		return g
	}
	g.sampler, g.note = gpu.StartSampling(o.Self, Interval, o.Env)
	if g.sampler != nil {
		g.lines = g.sampler.Lines
	}
	return g
}

func (g *gpuLane) stop() {
	if g.sampler != nil {
		g.sampler.Stop()
		g.sampler = nil
	}
}

// take adds a line of the child to a frame. ours tells whether a process is the
// job's.
func (g *gpuLane) take(l nvmlchild.SampleLine, ours func(pid int) bool, f *verdict.Frame) {
	switch {
	case l.Error != "":
		g.note = l.Error
	case l.GPUs != nil:
		g.static = l.GPUs
		for _, s := range l.GPUs {
			g.gpus = append(g.gpus, describe(s, g.host))
		}
	}
	if len(l.Readings) == len(g.gpus) && len(l.Readings) > 0 {
		g.latest = l.Readings
		var one verdict.Frame
		for i, r := range l.Readings {
			one.GPUs = append(one.GPUs, g.sample(i, r, ours))
		}
		f.GPUs = f.Plus(one).GPUs
	}
}

func describe(s nvmlchild.SampledGPU, host bool) verdict.GPU {
	out := verdict.GPU{Index: s.Index, Name: text.Clip(s.Name, 60), UUID: text.Clip(s.UUID, 60), SM: machine.SM{Major: s.Major, Minor: s.Minor},
		Memory: s.Memory, Clock: s.Clock, Cores: s.Cores, PowerLimit: s.PowerLimit, PowerDefault: s.PowerDefault, MIG: s.MIG, Attributed: s.Processes && host}
	if s.MaxGen > 0 && s.MaxWidth > 0 {
		out.Link = fmt.Sprintf("Gen%d x%d", s.MaxGen, s.MaxWidth)
	}
	return out
}

// baselineWithin is how soon after the job's start a reading still shows the
// GPU without it: importing torch alone takes longer.
const baselineWithin = time.Second

func (g *gpuLane) sample(i int, r nvmlchild.Reading, ours func(int) bool) verdict.GPUFrame {
	gpu, f := &g.gpus[i], frameOf(r, g.static[i])
	gpu.Lost = gpu.Lost || r.Lost
	if gpu.Before == nil && time.Since(g.started) < baselineWithin {
		before := r.Used
		gpu.Before = &before
	}
	if len(r.Utils) > 0 && r.Utils[len(r.Utils)-1] > 20 {
		gpu.LinkMBs = linkRate(r.Gen, r.Width)
	}
	for _, p := range r.Procs {
		pid := int(p[0])
		switch {
		case ours(pid):
			f.Ours += p[1]
			gpu.Attributed = true // also in a container, when the driver translates PIDs
		case gpu.Attributed:
			f.Theirs += p[1]
			g.tenant(i, pid, p[1])
		}
	}
	return f
}

// tenant keeps who else is on a GPU, the largest first.
func (g *gpuLane) tenant(i, pid int, mem int64) {
	key := [2]int{i, pid}
	t, known := g.tenants[key]
	if !known {
		if len(g.tenants) > 256 {
			return
		}
		t = tenantOf(pid)
	}
	t.Memory = max(t.Memory, mem)
	g.tenants[key] = t
}

// finish returns the GPUs with their other users.
func (g *gpuLane) finish() []verdict.GPU {
	out := append([]verdict.GPU{}, g.gpus...)
	for i := range out {
		out[i].Tenants = nil
		for key, t := range g.tenants {
			if key[0] == i {
				out[i].Tenants = append(out[i].Tenants, t)
			}
		}
		slices.SortFunc(out[i].Tenants, func(a, b verdict.Tenant) int {
			return cmp.Or(cmp.Compare(b.Memory, a.Memory), cmp.Compare(a.PID, b.PID))
		})
	}
	return out
}

func tenantOf(pid int) verdict.Tenant {
	p := proc.Self.Of(pid)
	t := verdict.Tenant{PID: pid, Name: text.Clip(p.Name(), 40)}
	if uid, ok := proc.Owner(string(p)); ok {
		t.User = userName(uid)
	}
	return t
}
