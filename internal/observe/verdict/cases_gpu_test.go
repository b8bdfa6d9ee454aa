package verdict

import "envfix/internal/machine"

// onGPU are jobs that compute on a GPU, or should.
var onGPU = []ruleCase{
	{"healthy", func(t *Trace) {}, "healthy", []string{"93 %"}},
	{"cpu build", func(t *Trace) { p := lead(t); p.Version, p.CUDA = "2.15.0+cpu", ""; load(t, 0, 0) }, "cpu_build", []string{"2.15.0+cpu", "H100"}},
	{"cpu build seen from outside", func(t *Trace) {
		t.Processes[0].Probe, t.Processes[0].Torch, t.Processes[0].GPUFiles = nil, "cpu", false
		load(t, 0, 0)
		each(t, 0, func(g *GPUFrame) { g.Ours = 0 })
	}, "cpu_build", nil},
	{"rocm build is no cpu build", func(t *Trace) { p := lead(t); p.CUDA, p.HIP = "", "7.2" }, "healthy", nil},
	{"model on the cpu", func(t *Trace) {
		t.Processes[0].LoopCPU = 90
		lead(t).Params, lead(t).CUDAInit = map[string]int64{"cpu/torch.float32": 86e6}, false
		load(t, 0, 0)
		each(t, 0, func(g *GPUFrame) { g.Ours, g.Used = 0, 4 })
	}, "model_on_cpu", []string{"86 M parameters", "model.to(device)"}},
	{"model on the cpu, of a job that started CUDA", func(t *Trace) { // as on an H200: its core is busy, and starts no work
		t.Processes[0].LoopCPU = 90
		lead(t).Params = map[string]int64{"cpu/torch.float32": 86e6}
		load(t, 0, 0)
		each(t, 0, func(g *GPUFrame) { g.Ours, g.Used = 600, 600 })
		looked(t, "forward", 0.5)
	}, "model_on_cpu", nil},
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
		"loader_bound", []string{"idle 80 %", "31.2 ms of 40 ms", "storage", "+ ld = DataLoader(ds, batch_size=32, shuffle=True, num_workers=8, persistent_workers=True, pin_memory=True)"}},
	{"loader computes", func(t *Trace) { starve(t, 0.5); lead(t).Loaders[0].Workers = 0; lead(t).Page.LoadCPU = 0.09 }, "loader_bound", []string{"decoding"}},
	{"loader waits, in steps shorter than a sample of the GPU's load", func(t *Trace) {
		starve(t, 0.78)
		each(t, 0, func(g *GPUFrame) { g.Util, g.Idle, g.High = 22, 0, 0 })
	}, "loader_bound", []string{"idle 78 %"}},
	{"workers compute", func(t *Trace) { starve(t, 0.5); addWorkers(t, 4, 95, 1) }, "loader_bound", []string{"workers use 3.8 cores: decoding"}},
	{"a wait that the GPU does not feel", func(t *Trace) { lead(t).Page.Load = 30 }, "healthy", nil},
	{"copies", func(t *Trace) { load(t, 0, 60); lead(t).Burst.Copies, lead(t).Burst.CopyAt = 170, "train.py:41" }, "copies_each_step", []string{"34 copies", "train.py:41", "needs 2"}},
	{"copies that the GPU does not feel", func(t *Trace) { lead(t).Burst.Copies = 170 }, "healthy", nil},
	{"syncs", func(t *Trace) { load(t, 0, 60); lead(t).Burst.Syncs, lead(t).Burst.SyncAt = 100, "train.py:50" }, "sync_bound", []string{"20 reads", "train.py:50"}},
	{"a log now and then", func(t *Trace) { load(t, 0, 60); lead(t).Burst.Syncs = 5 }, "healthy", []string{"no cause"}},
	{"python", func(t *Trace) { load(t, 0, 20); t.Processes[0].LoopCPU = 88 }, "python_bound", []string{"98 %"}},
	{"python, at a line", func(t *Trace) {
		load(t, 0, 20)
		t.Processes[0].LoopCPU = 88
		looked(t, "between", 0.8, Spot{At: "t.py:5", Call: ".add_"})
	}, "python_bound", []string{"works between its steps: .add_ (t.py:5)", "torch.compile"}},
	{"python on a busy machine", func(t *Trace) { load(t, 0, 20); t.Processes[0].LoopCPU, t.Processes[0].Delay = 60, 27 }, "python_bound", nil},
	{"tiny batch", func(t *Trace) { load(t, 0, 40); p := lead(t); p.Page.StepP50 = 0.0009; p.Batch.Shape[0] = 1 }, "tiny_batch", []string{"batch 1", "24 % of the memory"}},
	{"batch of one, whose kernels start slower than they run", func(t *Trace) {
		load(t, 0, 14)
		lead(t).Batch.Shape[0], t.Processes[0].LoopCPU = 1, 90
		looked(t, "backward", 0.5)
	}, "tiny_batch", []string{"batch 1", "starting the work costs more"}},
	{"a core that starts short steps of no known batch", func(t *Trace) { // as on an H200: one cause, told once
		load(t, 0, 14)
		t.Processes[0].LoopCPU, lead(t).Page.StepP50, lead(t).Batch, lead(t).Loaders = 90, 0.0015, nil, nil
		each(t, 0, func(g *GPUFrame) { g.Ours, g.Used = 600, 600 })
		looked(t, "backward", 0.5)
	}, "python_bound", nil},
	{"batch of one, whose loop saves", func(t *Trace) {
		load(t, 0, 14)
		lead(t).Batch.Shape[0], t.Processes[0].LoopCPU = 1, 90
		looked(t, "saving", 0.7)
	}, "checkpoint_bound", nil},
	{"one large copy a step", func(t *Trace) {
		load(t, 0, 14)
		t.Processes[0].LoopCPU = 90
		looked(t, "copy", 0.94, Spot{At: "t.py:5", Call: ".to"})
	}, "copies_each_step", []string{"94 % of the time the loop copies to the GPU: .to (t.py:5)", "pin_memory=True"}},
	{"copies of each sample", func(t *Trace) {
		load(t, 0, 6)
		t.Processes[0].LoopCPU, lead(t).Burst.Copies, lead(t).Burst.CopyAt = 90, 10240, "train.py:41"
		looked(t, "copy", 0.86, Spot{At: "train.py:41", Call: ".to"})
	}, "copies_each_step", []string{"2048 copies from CPU to GPU a step (train.py:41)"}},
	{"held by the power limit that the card was made for", func(t *Trace) {
		t.GPUs[0].PowerDefault = 700
		each(t, 0, func(g *GPUFrame) { g.Capped, g.Clock = g.Active, 0.86*float64(g.Active) })
	}, "healthy", nil},
	{"held by a lower power limit", func(t *Trace) {
		t.GPUs[0].PowerDefault, t.GPUs[0].PowerLimit = 700, 400
		each(t, 0, func(g *GPUFrame) { g.Capped, g.Clock = g.Active, 0.6*float64(g.Active) })
	}, "power_cap", []string{"400 of 700 W"}},
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
	{"an allocator that empties its cache all the time", func(t *Trace) { lead(t).Retries = 300 }, "oom", []string{"nearly full: 300 times"}},
	{"an allocator that emptied its cache now and then", func(t *Trace) { lead(t).Retries = 20 }, "healthy", nil},
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
		p.Page.Batches, p.Page.Load, p.Page.Epochs, p.Loaders, p.Batch = 0, 0, 0, nil, nil
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
		ranks(t, func(r int, p *Process) { p.Probe.Where = beside("python", 0.01+float64(r)*0.05) })
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
			b := *p.Probe
			b.Rank, b.World, b.Where = ptr(r), 3, beside("python", map[int]float64{0: 0.25, 1: 0.775, 2: 0.225}[r])
			p.PID, p.Probe = 100+r, &b
			t.Processes = append(t.Processes, p)
		}
		t.Processes = t.Processes[1:]
	}, "ddp_skew", []string{"rank 1 takes 31 ms a step for python: time.sleep (t.py:9); the median rank 10 ms"}},
	{"a loop with an input of its own that waits", func(t *Trace) {
		load(t, 0, 30)
		p := lead(t)
		p.Page.Batches, p.Page.Load, p.Page.Epochs, p.Loaders, p.Batch = 0, 0, 0, nil, nil
		t.Processes[0].LoopCPU = 25
		looked(t, "data", 0.7, Spot{At: "t.py:9", Call: "queue.Queue.get"})
	}, "loader_bound", []string{"70 % of the time the loop fetches its input: queue.Queue.get (t.py:9)"}},
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
	{"compiling alone, before a look at any step", func(t *Trace) { // a step of an H200: 12 s of 14 s
		p := lead(t)
		t.Seconds, p.Compiled, p.Burst, p.Page = 14, true, nil, Page{Steps: 1}
		p.Where = &Where{Looks: 3, Compiles: 1, CompileS: 12}
		load(t, 0, 0)
	}, "compile_warmup", []string{"12 s of 14 s"}},
	{"compiling again in few and long steps", func(t *Trace) {
		p := lead(t)
		t.Seconds, p.Compiled, p.Burst, p.Page = 60, true, nil, Page{Steps: 3, LastAt: 58}
		p.Where = &Where{Looks: 3, Compiles: 3, CompileS: 50, CompileAt: "step (t.py:3)", Reason: "size mismatch at index 0"}
		load(t, 0, 0)
	}, "recompiles", []string{"50 s of 60 s", "3 times, last step (t.py:3): size mismatch"}},
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
}
