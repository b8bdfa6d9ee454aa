package verdict

import (
	"encoding/json"
	"strings"
	"testing"

	"envfix/internal/machine"

	"github.com/google/go-cmp/cmp"
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
		s := Sample{Utils: []float64{0}, Used: 20000, Ours: 20000, Clock: 1980, Power: 500, PowerKnown: true, Link: 1}
		if i*37%100 < busy {
			s.Utils[0] = 97
		}
		t.Frames[i].GPUs[g] = s.Frame(t.GPUs[g])
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

// ownInput is a job without a DataLoader: of wall seconds it computes cpu, and is ready
// and waits for a processor for delay.
func ownInput(t *Trace, cpu, delay, wall float64) {
	p := &t.Processes[0]
	p.LoopCPU, p.Delay, p.LoopWall = cpu, delay, wall
	b := p.Probe
	b.Loaders, b.Batch, b.Tensors = nil, nil, 0
	b.Page = Page{Steps: 103, Warm: 100, WarmAt: 10, LastAt: 10 + wall, Step: wall, StepP50: wall / 100}
}

func addWorkers(t *Trace, n int, cpu, delay float64) {
	for i := range n {
		t.Processes = append(t.Processes, Process{PID: 200 + i, Parent: 100, Name: "pt_data_worker", Worker: true, CPU: cpu, Wall: 100, Delay: delay})
	}
	lead(t).Loaders[0].Workers = n
}

func TestRules(t *testing.T) {
	tests := []struct {
		name  string
		edit  func(*Trace)
		want  string   // verdict, then others
		words []string // in the text or a fix
	}{
		{"healthy", func(t *Trace) {}, "healthy", []string{"93 %"}},
		{"cpu build", func(t *Trace) { p := lead(t); p.Version, p.CUDA = "2.15.0+cpu", ""; load(t, 0, 0) }, "cpu_build", []string{"2.15.0+cpu", "H100"}},
		{"cpu build seen from outside", func(t *Trace) {
			t.Processes[0].Probe, t.Processes[0].Torch, t.Processes[0].GPUFiles = nil, "cpu", false
			load(t, 0, 0)
			each(t, 0, func(g *GPUFrame) { g.Ours = 0 })
		}, "cpu_build", nil},
		{"rocm build is no cpu build", func(t *Trace) { p := lead(t); p.CUDA, p.HIP = "", "7.2" }, "healthy", nil},
		{"model on the cpu", func(t *Trace) {
			lead(t).Params, lead(t).CUDAInit = map[string]int64{"cpu/torch.float32": 86e6}, false
			load(t, 0, 0)
			each(t, 0, func(g *GPUFrame) { g.Ours, g.Used = 0, 4 })
		}, "model_on_cpu", []string{"86 M parameters", "model.to(device)"}},
		{"inputs and model on the cpu, torch said no", func(t *Trace) {
			lead(t).Params, lead(t).CUDAInit, lead(t).SaidNo, t.Processes[0].GPUFiles = map[string]int64{"cpu/torch.float32": 86e6}, false, true, false
			load(t, 0, 0)
			each(t, 0, func(g *GPUFrame) { g.Ours, g.Used = 0, 4 })
		}, "model_on_cpu cuda_unusable", []string{"envfix doctor"}},
		{"hidden by the environment", func(t *Trace) {
			lead(t).Visible, lead(t).CUDAInit, lead(t).Params, t.Processes[0].GPUFiles = ptr(""), false, map[string]int64{"cpu/torch.float32": 86e6}, false
			load(t, 0, 0)
			each(t, 0, func(g *GPUFrame) { g.Ours, g.Used = 0, 4 })
		}, "cuda_unusable", []string{"CUDA_VISIBLE_DEVICES"}},
		{"driver too old", func(t *Trace) {
			p := lead(t)
			p.Page, p.CUDAInit, p.Params, t.Processes[0].GPUFiles = Page{}, false, nil, false
			p.Crash = &Crash{"RuntimeError", "The NVIDIA driver on your system is too old (found version 11040)."}
			load(t, 0, 0)
			each(t, 0, func(g *GPUFrame) { g.Ours, g.Used = 0, 4 })
		}, "cuda_unusable", []string{"too old"}},
		{"loader waits for storage", func(t *Trace) {
			starve(t, 0.78)
			lead(t).Loaders[0] = Loader{Batch: 32, Where: "train.py:12", Source: "    ld = DataLoader(ds, batch_size=32, shuffle=True)"}
		},
			"loader_bound", []string{"idle 79 %", "31.2 ms of 40 ms", "storage", "+ ld = DataLoader(ds, batch_size=32, shuffle=True, num_workers=8, persistent_workers=True, pin_memory=True)"}},
		{"loader computes", func(t *Trace) { starve(t, 0.5); lead(t).Loaders[0].Workers = 0; lead(t).Page.LoadCPU = 0.09 }, "loader_bound", []string{"decoding"}},
		{"workers compute", func(t *Trace) { starve(t, 0.5); addWorkers(t, 4, 95, 1) }, "loader_bound", []string{"workers use 3.8 cores: decoding"}},
		{"a wait that the GPU does not feel", func(t *Trace) { lead(t).Page.Load = 30 }, "healthy", nil},
		{"copies", func(t *Trace) { load(t, 0, 60); lead(t).Burst.Copies, lead(t).Burst.CopyAt = 170, "train.py:41" }, "copies_each_step", []string{"34 copies", "train.py:41", "needs 2"}},
		{"copies that the GPU does not feel", func(t *Trace) { lead(t).Burst.Copies = 170 }, "healthy", nil},
		{"syncs", func(t *Trace) { load(t, 0, 60); lead(t).Burst.Syncs, lead(t).Burst.SyncAt = 100, "train.py:50" }, "sync_bound", []string{"20 reads", "train.py:50"}},
		{"a log now and then", func(t *Trace) { load(t, 0, 60); lead(t).Burst.Syncs = 5 }, "healthy", []string{"no cause"}},
		{"python", func(t *Trace) { load(t, 0, 20); t.Processes[0].LoopCPU = 88 }, "python_bound", []string{"98 %"}},
		{"python on a busy machine", func(t *Trace) { load(t, 0, 20); t.Processes[0].LoopCPU, t.Processes[0].Delay = 60, 27 }, "python_bound", nil},
		{"tiny batch", func(t *Trace) { load(t, 0, 40); p := lead(t); p.Page.StepP50 = 0.0009; p.Batch.Shape[0] = 1 }, "tiny_batch", []string{"batch 1", "24 % of the memory"}},
		{"batch of one, long steps", func(t *Trace) { lead(t).Batch.Shape[0] = 1 }, "healthy", nil},
		{"other process", func(t *Trace) {
			t.GPUs[0].Tenants = []Tenant{{999, "b", "python", 71 << 10}}
			t.GPUs = append(t.GPUs, gpu(1))
			load(t, 1, 0)
			each(t, 0, func(g *GPUFrame) { g.Theirs, g.Ours, g.Used = 71<<10, 2000, 75000 })
			each(t, 1, func(g *GPUFrame) { g.Ours, g.Used = 0, 4 })
		}, "other_process one_gpu_of_n", []string{"PID 999 (user b, python) holds 71.0 GiB of 80.0 GiB", "GPU 1 is free"}},
		{"a small neighbour", func(t *Trace) { each(t, 0, func(g *GPUFrame) { g.Theirs = 900 }) }, "healthy", nil},
		{"oom by fragmentation", func(t *Trace) {
			t.Exit = 1
			lead(t).Crash = &Crash{"OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.12 GiB is free. Including non-PyTorch memory, this process has 22.50 GiB memory in use. Of the allocated memory 18.10 GiB is allocated by PyTorch, and 4.20 GiB is reserved by PyTorch but unallocated."}
		}, "oom", []string{"2 GiB asked, 1.12 GiB free", "fragmentation", "expandable_segments"}},
		{"oom of an old torch", func(t *Trace) {
			lead(t).Crash = &Crash{"RuntimeError", "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB total capacity; 7.54 GiB already allocated; 5.69 MiB free; 7.59 GiB reserved in total by PyTorch)"}
		}, "oom", []string{"the job itself fills it (7.54 GiB allocated)"}},
		{"oom through a neighbour", func(t *Trace) {
			lead(t).Crash = &Crash{"OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.12 GiB is free. Process 77 has 19.80 GiB memory in use. Of the allocated memory 1.10 GiB is allocated by PyTorch, and 0.20 GiB is reserved by PyTorch but unallocated."}
		}, "oom", []string{"another process holds 19.8 GiB"}},
		{"caught oom", func(t *Trace) { lead(t).OOMs = 3 }, "oom", []string{"3 times"}},
		{"workers over the quota", func(t *Trace) {
			t.Host.Quota, t.Host.Throttled = 1, 0.64
			load(t, 0, 50)
			addWorkers(t, 8, 12, 1)
		}, "workers_over_quota", []string{"8 workers share 1 CPU (cgroup limit)", "64 %"}},
		{"workers over the affinity", func(t *Trace) {
			t.Host.CPUs = 2
			load(t, 0, 50)
			addWorkers(t, 8, 22, 60)
		}, "workers_over_quota", []string{"wait for a CPU"}},
		{"many workers that only wait", func(t *Trace) {
			t.Host.CPUs = 2
			addWorkers(t, 8, 2, 1)
		}, "healthy", nil},
		{"respawn", func(t *Trace) {
			load(t, 0, 50)
			p := lead(t)
			p.Page.Epochs, p.Page.Edge, p.Loaders[0].Persistent = 25, 50, false
		}, "worker_respawn", []string{"55 % of the run", "persistent_workers=True"}},
		{"three epochs, quick edges", func(t *Trace) { p := lead(t); p.Page.Epochs, p.Page.Edge, p.Loaders[0].Persistent = 25, 5, false }, "healthy", nil},
		{"fp32", func(t *Trace) {
			p := lead(t)
			p.Params, p.Matmul, p.Burst.Autocast = map[string]int64{"cuda:0/torch.float32": 86e6}, "highest", 0
		}, "fp32_no_tensor_cores", []string{"set_float32_matmul_precision"}},
		{"fp32 of convolutions", func(t *Trace) {
			p := lead(t)
			p.Params, p.Matmul, p.Burst.Autocast, p.Matrices = map[string]int64{"cuda:0/torch.float32": 25e6}, "highest", 0, 2e6
		}, "healthy", nil},
		{"fp32 parameters under autocast", func(t *Trace) {
			p := lead(t)
			p.Params, p.Matmul = map[string]int64{"cuda:0/torch.float32": 86e6}, "highest"
		}, "healthy", nil},
		{"fp32 on a GPU without tf32", func(t *Trace) {
			p := lead(t)
			t.GPUs[0].SM = machine.MustSM("7.5")
			p.Params, p.Matmul, p.Burst.Autocast = map[string]int64{"cuda:0/torch.float32": 86e6}, "highest", 0
		}, "healthy", nil},
		{"fp32 on a GPU whose generation is not known", func(t *Trace) {
			p := lead(t)
			t.GPUs[0].SM = machine.SM{}
			p.Params, p.Matmul, p.Burst.Autocast = map[string]int64{"cuda:0/torch.float32": 86e6}, "highest", 0
		}, "healthy", nil},
		{"python between bursts, without a loader", func(t *Trace) {
			load(t, 0, 40)
			p := lead(t)
			p.Page.Batches, p.Page.Load, p.Page.Epochs, p.Loaders, p.Batch, p.Burst.Python = 0, 0, 0, nil, nil, 0.86
			t.Processes[0].LoopCPU = 88
		}, "python_bound", nil},
		{"memory but idle", func(t *Trace) {
			load(t, 0, 0)
			lead(t).Page.LastAt, lead(t).Page.WarmAt, t.Running, t.Seconds = 20, 10, true, 100
		}, "memory_but_idle", []string{"no step for 80 s"}},
		{"hot", func(t *Trace) {
			each(t, 0, func(g *GPUFrame) { g.Hot, g.Clock, g.Temp = g.Active, 0.55*float64(g.Active), 87 })
		}, "thermal", []string{"87 °C", "1089 of 1980 MHz"}},
		{"slow link without traffic", func(t *Trace) {
			t.GPUs[0].LinkMBs = 1000
			each(t, 0, func(g *GPUFrame) { g.Link, g.RxN, g.Rx = 0.05*float64(g.LinkN), 1, 10 })
		}, "healthy", nil},
		{"slow link with traffic", func(t *Trace) {
			t.GPUs[0].LinkMBs, t.GPUs[0].Link = 1000, "Gen5 x16"
			each(t, 0, func(g *GPUFrame) { g.Link, g.RxN, g.Rx = 0.05*float64(g.LinkN), 1, 700 })
		}, "pcie_link", []string{"70 %", "Gen5 x16"}},
		{"one GPU of two", func(t *Trace) {
			t.GPUs = append(t.GPUs, gpu(1))
			load(t, 1, 0)
			each(t, 1, func(g *GPUFrame) { g.Ours, g.Used = 0, 4 })
		}, "one_gpu_of_n", []string{"1 of 2 GPUs worked", "torchrun"}},
		{"one GPU of two by choice", func(t *Trace) {
			t.GPUs = append(t.GPUs, gpu(1))
			load(t, 1, 0)
			each(t, 1, func(g *GPUFrame) { g.Ours, g.Used = 0, 4 })
			lead(t).Visible = ptr("0")
		}, "healthy", nil},
		{"wrong GPU", func(t *Trace) {
			t.GPUs = append(t.GPUs, gpu(1))
			t.GPUs[0].Name, t.GPUs[0].Cores, t.GPUs[1].UUID = "GT 1030", 384, "GPU-1"
			load(t, 1, 0)
			each(t, 1, func(g *GPUFrame) { g.Ours, g.Used = 0, 4 })
		}, "wrong_gpu one_gpu_of_n", []string{"GT 1030", "CUDA_VISIBLE_DEVICES=GPU-1"}},
		{"data parallel", func(t *Trace) {
			t.GPUs = append(t.GPUs, gpu(1))
			load(t, 1, 90)
			lead(t).Parallel, lead(t).Devices = []string{"DataParallel"}, 2
		}, "data_parallel", []string{"DistributedDataParallel"}},
		{"skew", func(t *Trace) {
			for r := range 4 {
				p := t.Processes[0]
				b := *p.Probe
				b.Rank, b.World, b.Page.Load = ptr(r), 4, 0.1
				p.PID, p.Probe = 100+r, &b
				if r == 3 {
					b.Page.Load = 57
				}
				t.Processes = append(t.Processes, p)
			}
			t.Processes = t.Processes[1:]
		}, "ddp_skew", []string{"rank 3 waits 25.3 ms"}},
		{"skew that costs nothing", func(t *Trace) {
			ranks(t, func(r int, p *Process) { p.Probe.Page.Load, p.Probe.Page.Step = float64(r)*2.5, 10 })
		}, "healthy", nil},
		{"a rank that other programs kept from its processor", func(t *Trace) {
			ranks(t, func(r int, p *Process) { p.Probe.Page.Load, p.Delay = float64(r)*40, float64(r)*40 })
		}, "healthy", nil},
		{"one long wait of one rank", func(t *Trace) {
			ranks(t, func(r int, p *Process) { p.Probe.Page.Load, p.Probe.Page.LoadP90 = float64(r)*40, 0.0008 })
		}, "healthy", nil},
		{"one rank waits in every eighth step", func(t *Trace) {
			ranks(t, func(r int, p *Process) {
				p.Probe.Page.Load, p.Probe.Page.LoadP90 = float64(r)*40, 0.0008+float64(r)*0.1
			})
		}, "ddp_skew", []string{"rank 1 waits 17.8 ms a step"}},
		{"one slow step of one rank", func(t *Trace) {
			ranks(t, func(r int, p *Process) { p.Probe.Burst.Own, p.Probe.Burst.OwnLeast = 0.05+float64(r)*0.1, 0.01 })
		}, "healthy", nil},
		{"two trainings side by side", func(t *Trace) {
			p := t.Processes[0]
			b := *p.Probe
			b.Page.Load = 40
			p.PID, p.Probe = 101, &b
			t.Processes = append(t.Processes, p)
		}, "healthy", nil},
		{"skew of the work itself", func(t *Trace) {
			for r := range 3 {
				p := t.Processes[0]
				b, burst := *p.Probe, *p.Probe.Burst
				burst.Own = map[int]float64{0: 0.05, 1: 0.155, 2: 0.045}[r]
				b.Rank, b.World, b.Burst = ptr(r), 3, &burst
				p.PID, p.Probe = 100+r, &b
				t.Processes = append(t.Processes, p)
			}
			t.Processes = t.Processes[1:]
		}, "ddp_skew", []string{"rank 1 takes 31 ms a step until its backward pass, the median rank 10 ms"}},
		{"a loop with an input of its own that waits", func(t *Trace) {
			load(t, 0, 30)
			p := lead(t)
			p.Page.Batches, p.Page.Load, p.Page.Epochs, p.Loaders, p.Batch = 0, 0, 0, nil, nil
			t.Processes[0].LoopCPU = 25
		}, "loader_bound", []string{"waited 72 % of the time", "for neither the CPU nor the GPU"}},
		{"a loop with an input of its own that computes", func(t *Trace) {
			p := lead(t)
			p.Page.Batches, p.Page.Load, p.Page.Epochs, p.Loaders, p.Batch = 0, 0, 0, nil, nil
			t.Processes[0].LoopCPU = 25
		}, "healthy", nil},
		{"stalled", func(t *Trace) { lead(t).Page.LoadMax = 42 }, "stalled_loader", []string{"42 s"}},
		{"stalled still, on a network disk", func(t *Trace) {
			lead(t).Page.Waiting, t.Running = 42, true
			t.Processes = append(t.Processes, Process{PID: 203, Worker: true, Samples: 50, Blocked: 40, Mount: "/mnt/nfs (nfs4)"})
		}, "stalled_loader", []string{"in the DataLoader for 42 s, after batch 2253", "PID 203 waits for the disk on /mnt/nfs (nfs4)"}},
		{"first batch may take long", func(t *Trace) { lead(t).Page.Waiting, lead(t).Page.FirstWait, t.Running = 20, true, true }, "healthy", nil},
		{"host oom", func(t *Trace) { t.Host.OOMKills, t.Host.MemoryLimit, t.Host.MemoryPeak = 1, 32<<10, 32600 }, "host_oom", []string{"killed 1 process", "31.8 GiB of 32.0 GiB"}},
		{"shm", func(t *Trace) {
			t.Host.ShmTotal, t.Exit = 64, 1
			lead(t).Crash = &Crash{"RuntimeError", "unable to allocate shared memory(shm) for file </torch_1_2>: Resource temporarily unavailable (11)"}
		}, "shm_too_small", []string{"/dev/shm has 64 MiB", "--shm-size=8g"}},
		{"compile warm-up", func(t *Trace) {
			p := lead(t)
			p.Compiled, p.Burst = true, nil
			p.Page.First, p.Page.WarmAt, p.Page.LastAt, p.Page.Step, p.Page.Warm = 41, 82, 100, 18, 450
		}, "compile_warmup", []string{"41 s of 59 s"}},
		{"no torch at all", func(t *Trace) {
			t.Processes[0].Probe, t.Processes[0].Torch, t.Processes[0].GPUFiles = nil, "", false
			load(t, 0, 0)
			each(t, 0, func(g *GPUFrame) { g.Ours, g.Used = 0, 4 })
		}, "not_training", []string{"no process of this job loaded PyTorch"}},
		{"preparing", func(t *Trace) {
			lead(t).Page, lead(t).Params, lead(t).CUDAInit, t.Processes[0].GPUFiles = Page{}, nil, false, false
			t.Processes[0].CPU, t.Processes[0].LoopWall = 8, 0
			load(t, 0, 0)
			each(t, 0, func(g *GPUFrame) { g.Ours, g.Used = 0, 4 })
		}, "not_training", nil},
		{"probe kept out, bursts", func(t *Trace) { t.Processes[0].Probe = nil; load(t, 0, 40) }, "loader_bound", nil},

		{"no GPU", func(t *Trace) { onCPU(t) }, "no_gpu", nil},
		{"no GPU, loader", func(t *Trace) { onCPU(t); lead(t).Page.Load = 80 }, "loader_bound no_gpu", []string{"would hold a GPU back"}},
		{"no GPU, the loader jitters", func(t *Trace) { onCPU(t); lead(t).Page.Load = 20 }, "no_gpu", nil},
		{"no GPU, syncs", func(t *Trace) { onCPU(t); lead(t).Burst.Syncs = 100 }, "sync_bound no_gpu", []string{"would hold a GPU back"}},
		{"no GPU, moves", func(t *Trace) { onCPU(t); lead(t).Burst.Copies = 170 }, "copies_each_step no_gpu", []string{"would hold a GPU back"}},
		{"no GPU, python", func(t *Trace) { onCPU(t); lead(t).Burst.Python = 0.9 }, "python_bound no_gpu", []string{"would hold a GPU back"}},
		{"no GPU, batch of one", func(t *Trace) {
			onCPU(t)
			p := lead(t)
			p.Page.StepP50 = 0.001
			p.Batch.Shape[0] = 1
			p.Burst.Python = 0.7
		}, "tiny_batch no_gpu", []string{"would hold a GPU back"}},
		{"no GPU, matrices in 32 bits", func(t *Trace) { onCPU(t); lead(t).Matmul = "highest"; lead(t).Matrices = 1 << 40 }, "no_gpu", nil},
		{"generations of workers that sleep", func(t *Trace) {
			onCPU(t)
			lead(t).Page.Load = 80
			lead(t).Loaders = []Loader{{Workers: 2, Where: "t.py:4"}}
			for range 20 {
				t.Processes = append(t.Processes, Process{PID: 100, Worker: true, CPU: 1.5, Wall: 10, Samples: 50})
			}
		}, "loader_bound no_gpu", []string{"workers use 0.3 cores, no storage"}},
		{"workers that have nothing to do", func(t *Trace) {
			onCPU(t)
			lead(t).Page.Load, lead(t).Page.LoadP50 = lead(t).Page.Step/2, 0.0004
			lead(t).Page.Warm = uint64(lead(t).Page.Load / 0.0006)
			lead(t).Loaders = []Loader{{Workers: 2, Where: "t.py:4"}}
			t.Processes = append(t.Processes, Process{PID: 100, Worker: true, CPU: 1, Wall: 100, Samples: 50, Probe: &Probe{Where: &Where{Seen: 10, Looks: 200}}})
		}, "no_gpu", nil},
		{"workers that have nothing to do, on a busy machine", func(t *Trace) {
			onCPU(t)
			lead(t).Page.Load = 30
			lead(t).Loaders = []Loader{{Workers: 1, Where: "t.py:4"}}
			t.Processes[0].Delay = 8
			t.Processes = append(t.Processes, Process{PID: 100, Worker: true, CPU: 10, Delay: 10, Wall: 100, Samples: 50, Probe: &Probe{Where: &Where{Seen: 10, Looks: 200}}})
		}, "no_gpu", nil},
		{"storage", func(t *Trace) {
			onCPU(t)
			lead(t).Page.Load = 80
			lead(t).Page.LoadCPU, lead(t).Page.LoadSeen = 0.1, 10
			t.Processes[0].Read, t.Processes[0].Samples, t.Processes[0].Blocked = 5000, 100, 40
			lead(t).Loaders = []Loader{{Where: "t.py:4"}}
		}, "loader_bound no_gpu", []string{"storage, ", "local disk"}},
		{"a place in the loader", func(t *Trace) {
			onCPU(t)
			lead(t).Page.Load = 80
			lead(t).Page.LoadCPU, lead(t).Page.LoadSeen = 9, 10
			lead(t).Loaders = []Loader{{Where: "t.py:4"}}
			lead(t).Where = &Where{Seen: 100, Looks: 120, Top: []Spot{{At: "data.py:9", Func: "DS.__getitem__", Call: "PIL.Image.Image.convert", Part: "item", N: 80}, {At: "data.py:10", N: 3}}}
		}, "loader_bound no_gpu", []string{"80 % is PIL.Image.Image.convert (data.py:9)", "decode smaller images"}},
		{"in the words of Trainer", func(t *Trace) {
			onCPU(t)
			lead(t).Page.Load = 80
			lead(t).Via = []string{"torch", "accelerate", "transformers"}
			lead(t).Loaders = []Loader{{Where: "/v/site-packages/transformers/trainer.py:900", Own: "/h/train.py:40", Setting: "/h/train.py:33"}}
		}, "loader_bound no_gpu", []string{"TrainingArguments(…, dataloader_num_workers=", "at /h/train.py:33"}},
		{"in the words of ultralytics", func(t *Trace) {
			starve(t, 0.8)
			lead(t).Via = []string{"ultralytics"}
			lead(t).Loaders = []Loader{{Where: "/v/site-packages/ultralytics/data/build.py:300", Own: "/h/train.py:40", Setting: "/h/train.py:33"}}
			lead(t).Where = &Where{Seen: 20, Looks: 20, Top: []Spot{{Call: "ultralytics.utils.imread_unicode", Part: "item", N: 20}}}
		}, "loader_bound", []string{"model.train(…, workers=", "), at /h/train.py:40", "decode smaller images"}},
		{"ultralytics on a CPU", func(t *Trace) {
			onCPU(t)
			lead(t).Page.Load = 80
			lead(t).Via = []string{"ultralytics"}
			lead(t).Loaders = []Loader{{Where: "/v/site-packages/ultralytics/data/build.py:300", Own: "/h/train.py:40"}}
		}, "loader_bound no_gpu", []string{"ultralytics loads within the loop on a CPU, whatever workers= says; on a GPU: model.train("}},
		{"gradients are accumulated", func(t *Trace) {
			lead(t).Burst = &Burst{Steps: 5, Passes: 20, Copies: 40, Syncs: 20, Autocast: 20}
			load(t, 0, 40)
		}, "healthy", nil},
		{"gradients are accumulated, and each batch waits", func(t *Trace) {
			starve(t, 0.8)
			lead(t).Burst = &Burst{Steps: 5, Passes: 20, Copies: 400, Syncs: 20, Autocast: 20}
		}, "copies_each_step loader_bound", []string{"20 copies from CPU to GPU a batch; the batch needs 2"}},
		{"waits for data in a step of several batches", func(t *Trace) {
			starve(t, 0.8)
			lead(t).Burst = &Burst{Steps: 5, Passes: 20, Copies: 40}
		}, "loader_bound", []string{"32 ms of 40 ms a step of 4 batches"}},
		{"a loader built anew for each epoch", func(t *Trace) {
			onCPU(t)
			p := lead(t)
			p.Page.Epochs, p.Page.Edge, p.Made = 9, 60, 10
			p.Loaders = []Loader{{Workers: 2, Where: "t.py:3"}}
			for range 7 {
				p.Loaders = append(p.Loaders, Loader{Workers: 2, Where: "t.py:9", Persistent: true})
			}
		}, "worker_respawn no_gpu", []string{"built anew for each of 9 epochs (t.py:9)", "before the loop"}},
		{"a starved worker that decodes", func(t *Trace) {
			onCPU(t)
			lead(t).Page.Load = 80
			lead(t).Loaders = []Loader{{Workers: 1, Where: "t.py:4"}}
			t.Processes = append(t.Processes, Process{PID: 100, Worker: true, CPU: 10, Delay: 80, Wall: 100, Samples: 50})
		}, "loader_bound no_gpu", []string{"decoding"}},
		{"sleeps in its loader, on a busy machine", func(t *Trace) {
			starve(t, 0.5)
			onCPU(t)
			lead(t).Loaders = []Loader{{Batch: 8}}
			lead(t).Page.LoadCPU, lead(t).Page.LoadSeen = 0.01, 1
			t.Processes[0].LoopCPU, t.Processes[0].Delay = 20, 50
		}, "loader_bound no_gpu", []string{"waits for something else"}},
		{"decodes in its loader, on a busy machine", func(t *Trace) {
			starve(t, 0.5)
			onCPU(t)
			lead(t).Loaders = []Loader{{Batch: 8}}
			lead(t).Page.LoadCPU, lead(t).Page.LoadSeen = 0.25, 1
			t.Processes[0].LoopCPU, t.Processes[0].Delay = 20, 50
		}, "loader_bound no_gpu", []string{"decoding"}},
		{"a batch of one, on a busy machine", func(t *Trace) {
			onCPU(t)
			lead(t).Loaders, lead(t).Batch = []Loader{{Batch: 1}}, &Tensor{Shape: []int{1, 3}}
			lead(t).Page.StepP50 = 0.008
			t.Processes[0].LoopCPU, t.Processes[0].Delay = 30, 55
		}, "tiny_batch no_gpu", nil},
		{"its own input, a fast machine", func(t *Trace) { onCPU(t); ownInput(t, 30, 0, 90) }, "loader_bound no_gpu", []string{"waited 67 % of the time"}},
		{"its own input, a busy machine", func(t *Trace) { onCPU(t); ownInput(t, 30, 60, 150) }, "loader_bound no_gpu", []string{"waited 40 % of the time"}},
		{"computes on a busy machine", func(t *Trace) { onCPU(t); ownInput(t, 30, 60, 95) }, "no_gpu", nil},
		{"hardly ran on a crowded machine", func(t *Trace) { onCPU(t); ownInput(t, 3, 140, 150) }, "no_gpu", nil},
		{"ulimit -v", func(t *Trace) {
			onCPU(t)
			t.Host.AddressLimit = 4096
			lead(t).Crash = &Crash{Type: "RuntimeError", Text: "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8000000000 bytes"}
		}, "host_oom no_gpu", []string{"ulimit -v"}},
		{"no GPU, and doctor's answer", func(t *Trace) {
			onCPU(t)
			t.Doctor = &Diagnosis{Check: "DRV001", Text: "no driver is installed", Fix: []string{"`envfix apply`"}}
		}, "no_gpu", []string{"no driver is installed\n`envfix apply`\n`envfix doctor`"}},
		{"a GPU that NVML does not know", func(t *Trace) {
			onCPU(t)
			t.Host.OtherGPU = "amd"
			lead(t).Params = map[string]int64{"cuda:0/torch.float32": 5}
		}, "healthy", []string{"not measurable"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := job()
			tt.edit(tr)
			r := Judge(tr)
			got := []string{r.Verdict}
			text := r.Text + "\n" + strings.Join(r.Fix, "\n")
			for _, o := range r.Others {
				got = append(got, o.Verdict)
			}
			if diff := cmp.Diff(strings.Fields(tt.want), got); diff != "" {
				t.Errorf("(-want +got)\n%s%s", diff, text)
			}
			for _, w := range tt.words {
				if !strings.Contains(text, w) {
					t.Errorf("%q is not in\n%s", w, text)
				}
			}
			if strings.ContainsAny(text, "\x1b\r") || strings.Contains(text, "%!") || strings.Contains(text, "NaN") {
				t.Errorf("bad text: %q", text)
			}
			data, err := json.Marshal(tr)
			if err != nil {
				t.Fatal(err)
			}
			var again Trace
			if err := json.Unmarshal(data, &again); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(marshal(t, r), marshal(t, Judge(&again))); diff != "" {
				t.Errorf("judged again from its JSON: %s", diff)
			}
		})
	}
}

func marshal(t *testing.T, r Report) string {
	t.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRewrite(t *testing.T) {
	l := Loader{Where: "/venv/lib/python3.12/site-packages/transformers/trainer.py:9", Source: "return DataLoader(ds)"}
	if diff := cmp.Diff([]string{"DataLoader(…, num_workers=4)"}, rewrite(l, [2]string{"num_workers", "4"})); diff != "" {
		t.Errorf("a library's line: %s", diff)
	}
	tests := []struct{ in, want string }{
		{"ld = DataLoader(ds)", "ld = DataLoader(ds, num_workers=4)"},
		{"ld = DataLoader(ds, num_workers=0, shuffle=True)", "ld = DataLoader(ds, num_workers=4, shuffle=True)"},
		{"ld = DataLoader(f(a, num_workers=0), 8,)", "ld = DataLoader(f(a, num_workers=0), 8, num_workers=4)"},
		{"for x in torch.utils.data.DataLoader(ds, 8): pass", "for x in torch.utils.data.DataLoader(ds, 8, num_workers=4): pass"},
		{"ld = DataLoader(ds,", ""},
		{"ld = DataLoader(ds, sampler=d[')'])", ""},
		{"ld = make()", ""},
	}
	for _, tt := range tests {
		got := rewrite(Loader{Where: "t.py:1", Source: tt.in}, [2]string{"num_workers", "4"})
		want := []string{"DataLoader(…, num_workers=4)"}
		if tt.want != "" {
			want = append(want, "t.py:1\n- "+tt.in+"\n+ "+tt.want)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tt.in, diff)
		}
	}
}
