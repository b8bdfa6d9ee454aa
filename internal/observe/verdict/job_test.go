package verdict

import (
	"envfix/internal/machine"
)

func ptr[T any](v T) *T { return &v }

// A job is a training run of 100 s at 25 steps a second on a GPU of 80 GB that
// is busy 95 %; every test changes what makes it ill.
func job() *Trace {
	t := &Trace{Format: Format, Seconds: 100, Host: Host{CPUs: 16}, GPUs: []GPU{gpu(0)}}
	t.Processes = []Process{{PID: 100, Name: "python", CPU: 60, Wall: 100, LoopCPU: 54, LoopWall: 90, GPUFiles: true, Torch: "cuda", Probe: &Probe{
		Version: "2.15.0+cu130", CUDA: "13.0", CUDAInit: true, Params: map[string]int64{"cuda:0/torch.bfloat16": 86e6}, Matmul: "high",
		Page:    Page{Steps: 2253, Batches: 2253, Epochs: 2, Warm: 2250, WarmAt: 10, LastAt: 100, Step: 90, Load: 1.8, LoadSeen: 0.1, LoadCPU: 0.01, LoadP50: 0.0008, LoadMax: 0.05, StepP50: 0.04, First: 0.4, Edge: 0.5},
		Loaders: []Loader{{Workers: 4, Batch: 32, Persistent: true, Prefetch: 2, Pin: true}}, Batch: &Tensor{Shape: []int{32, 3, 224, 224}, Type: "torch.float32"}, Tensors: 2,
		Burst: &Burst{Steps: 5, Copies: 10, Autocast: 5},
	}}}
	load(t, 0, 95)
	return t
}

func gpu(i int) GPU {
	return GPU{Index: i, Name: "NVIDIA H100", SM: machine.MustSM("9.0"), Memory: 81920, Clock: 1980, Cores: 16896, PowerLimit: 700, Attributed: true}
}

// load gives a GPU one utilisation sample a second, of busy seconds at 97 %
// and idle ones, and the job a share of its memory.
func load(t *Trace, g, busy int) {
	for len(t.Frames) < 100 {
		t.Frames = append(t.Frames, Frame{At: float64(len(t.Frames)), Span: 1})
	}
	for i := range t.Frames {
		for len(t.Frames[i].GPUs) <= g {
			t.Frames[i].GPUs = append(t.Frames[i].GPUs, GPUFrame{})
		}
		s := GPUFrame{N: 1, Idle: 1, Used: 20000, Ours: 20000, PowerN: 1, Power: 500}
		if i*37%100 < busy {
			s.Idle, s.Util, s.High, s.LinkN, s.Link = 0, 97, 1, 1, 1
			if c := t.GPUs[g].Clock; c > 0 {
				s.Active, s.Clock = 1, min(1, 1980/float64(c))
			}
		}
		t.Frames[i].GPUs[g] = s
	}
}

func each(t *Trace, g int, edit func(*GPUFrame)) {
	for i := range t.Frames {
		edit(&t.Frames[i].GPUs[g])
	}
}

// ranks makes the job one of two ranks.
func ranks(t *Trace, edit func(rank int, p *Process)) {
	for r := range 2 {
		p := t.Processes[0]
		b, burst := *p.Probe, *p.Probe.Burst
		b.Rank, b.World, b.Burst = ptr(r), 2, &burst
		p.PID, p.Probe = 100+r, &b
		edit(r, &p)
		t.Processes = append(t.Processes, p)
	}
	t.Processes = t.Processes[1:]
}

func lead(t *Trace) *Probe { return t.Processes[0].Probe }

func starve(t *Trace, share float64) {
	lead(t).Page.Load = share * lead(t).Page.Step
	load(t, 0, int(100*(1-share)))
}

// onCPU takes the GPU away: the job runs on the CPU of a machine without one.
func onCPU(t *Trace) {
	t.GPUs, t.Frames = nil, nil
	p := lead(t)
	t.Processes[0].GPUFiles, p.CUDAInit, p.Params = false, false, map[string]int64{"cpu/torch.float32": 1e6}
	p.Burst = &Burst{Steps: 5, Copies: 10, OnCPU: true}
}

func addWorkers(t *Trace, n int, cpu, delay float64) {
	for i := range n {
		t.Processes = append(t.Processes, Process{PID: 200 + i, Parent: 100, Name: "pt_data_worker", Worker: true, CPU: cpu, Wall: 100, Delay: delay})
	}
	lead(t).Loaders[0].Workers = n
}

// beside are 400 looks, a share of them at one part and the others at the backward
// pass, in which ranks wait.
func beside(part string, share float64) *Where {
	n := int(share * 1e6)
	return &Where{Seen: 1e6, Looks: 1e6, Count: 400, Parts: map[string]int{part: n, "backward": 1e6 - n}, Top: []Spot{{At: "t.py:9", Call: "time.sleep", Part: part, N: n}}}
}

// looked gives the job 400 looks at its loop, a share of them at one part.
func looked(t *Trace, part string, share float64, top ...Spot) {
	n := int(share * 1e6)
	for i := range top {
		top[i].Part, top[i].N = part, n/len(top)
	}
	lead(t).Where = &Where{Seen: 1e6, Looks: 1e6, Count: 400, Parts: map[string]int{part: n, "forward": 1e6 - n}, Top: top}
}
