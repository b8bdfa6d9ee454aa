package verdict

// elsewhere are jobs without a GPU, and what frameworks and busy machines do.
var elsewhere = []ruleCase{
	{"no GPU", func(t *Trace) { onCPU(t) }, "no_gpu", nil},
	{"no GPU, loader", func(t *Trace) { onCPU(t); lead(t).Page.Load = 80 }, "loader_bound no_gpu", []string{"would hold a GPU back"}},
	{"no GPU, the loader jitters", func(t *Trace) { onCPU(t); lead(t).Page.Load = 20 }, "no_gpu", nil},
	{"no GPU, syncs", func(t *Trace) { onCPU(t); lead(t).Burst.Syncs = 100 }, "sync_bound no_gpu", []string{"would hold a GPU back"}},
	{"no GPU, moves", func(t *Trace) { onCPU(t); lead(t).Burst.Copies = 170 }, "copies_each_step no_gpu", []string{"would hold a GPU back"}},
	{"no GPU, python", func(t *Trace) { onCPU(t); looked(t, "python", 0.9) }, "python_bound no_gpu", []string{"would hold a GPU back"}},
	{"no GPU, work between the steps", func(t *Trace) {
		onCPU(t)
		looked(t, "between", 0.5, Spot{At: "t.py:7", Call: "torch.serialization.load"}, Spot{At: "t.py:7", Call: "torch.serialization.load"})
	}, "python_bound no_gpu", []string{"50 % of the time the loop works between its steps: torch.serialization.load (t.py:7) (by"}},
	{"no GPU, a loss that takes less than the model", func(t *Trace) { onCPU(t); looked(t, "between", 0.45, Spot{At: "t.py:7", Call: ".log"}) }, "no_gpu", nil},
	{"no GPU, a model that is no module", func(t *Trace) {
		onCPU(t)
		looked(t, "between", 0.5, Spot{At: "t.py:7", Call: ".relu"})
		delete(lead(t).Where.Parts, "forward")
	}, "no_gpu", nil},
	{"saves at every step", func(t *Trace) {
		onCPU(t)
		looked(t, "saving", 0.6, Spot{At: "t.py:9", Call: "torch.serialization.save"})
	}, "checkpoint_bound no_gpu",
		[]string{"60 % of the time the loop saves: torch.serialization.save (t.py:9) (by 400 looks, ± 5 %)", "a tenth as often"}},
	{"saves now and then", func(t *Trace) { onCPU(t); looked(t, "saving", 0.05) }, "no_gpu", nil},
	{"logs", func(t *Trace) { onCPU(t); looked(t, "logging", 0.3) }, "logging_bound no_gpu", nil},
	{"metrics", func(t *Trace) { onCPU(t); looked(t, "metrics", 0.3) }, "metric_bound no_gpu", nil},
	{"evaluates", func(t *Trace) { onCPU(t); looked(t, "evaluation", 0.7) }, "eval_bound no_gpu", nil},
	{"evaluates once an epoch", func(t *Trace) { onCPU(t); looked(t, "evaluation", 0.15) }, "no_gpu", nil},
	{"compiles again", func(t *Trace) {
		onCPU(t)
		looked(t, "compile", 0.7)
		lead(t).Where.Reason = "size mismatch at index 0"
	}, "recompiles no_gpu", []string{"size mismatch at index 0"}},
	{"collects garbage", func(t *Trace) {
		onCPU(t)
		looked(t, "gc", 0.4)
		lead(t).Where.GCTimes, lead(t).Where.GCAt = 90, "t.py:7"
	}, "gc_bound no_gpu", []string{"40 % of the time", "(t.py:7)", "gc.freeze()"}},
	{"collects garbage once", func(t *Trace) { onCPU(t); looked(t, "gc", 0.4); lead(t).Where.GCTimes = 2 }, "no_gpu", nil},
	{"collections of a second, few looks", func(t *Trace) {
		onCPU(t)
		looked(t, "gc", 0.9)
		w := lead(t).Where
		w.Count, w.GCTimes, w.GC = 4, 8, w.Seen*3/10 // of the processor, that the loop had for a third of the time
		t.Processes[0].LoopCPU, t.Processes[0].LoopWall, t.Processes[0].Delay = 30, 90, 60
	}, "gc_bound no_gpu", []string{"90 % of the time"}},
	{"short collections that let the looks in", func(t *Trace) {
		onCPU(t)
		looked(t, "gc", 0.4)
		lead(t).Where.GCTimes, lead(t).Where.GC = 90, lead(t).Where.Seen/50
	}, "no_gpu", nil},
	{"a GPU that is busy while the loop saves", func(t *Trace) { looked(t, "saving", 0.6) }, "healthy", nil},
	{"reads values back for most of the time", func(t *Trace) { load(t, 0, 40); looked(t, "sync", 0.6, Spot{At: "t.py:5", Call: ".item"}) }, "sync_bound", []string{"t.py:5"}},
	{"fetches its input itself", func(t *Trace) { onCPU(t); looked(t, "data", 0.6, Spot{At: "t.py:5", Call: "queue.Queue.get"}) }, "loader_bound no_gpu", []string{"queue.Queue.get (t.py:5)"}},
	{"a server decodes what it is asked", func(t *Trace) {
		onCPU(t)
		looked(t, "data", 0.6, Spot{At: "t.py:5", Call: "PIL.Image.Image.convert"})
		lead(t).Page = Page{}
	}, "loader_bound no_gpu", []string{"run_in_executor", "decode smaller images"}},
	{"a segfault before torch is loaded", func(t *Trace) {
		onCPU(t)
		t.Signal, t.Exit, t.Processes[0].Probe, t.Processes[0].Torch = "SEGV", 139, nil, ""
	}, "died no_gpu", []string{"ended by SIGSEGV before PyTorch was loaded", "PYTHONFAULTHANDLER=1"}},
	{"memory ran out before torch was imported", func(t *Trace) {
		onCPU(t)
		t.Exit, t.Processes[0].Probe, t.Processes[0].Torch = 1, &Probe{Crash: &Crash{Type: "MemoryError"}}, ""
	}, "host_oom no_gpu", []string{"memory (not the GPU's) ran out: MemoryError"}},
	{"ended by hand", func(t *Trace) { onCPU(t); t.Signal, t.Exit = "TERM", 143 }, "no_gpu", nil},
	{"another library", func(t *Trace) { onCPU(t); t.Processes[0].Probe, t.Processes[0].Torch = nil, "" }, "no_gpu", []string{"the probe knows no other library", "0.6 of 16 processors"}},
	{"another program, gone at once", func(t *Trace) { onCPU(t); t.Processes = nil }, "no_gpu", []string{"no process of this job loaded PyTorch"}},
	{"too few looks", func(t *Trace) { onCPU(t); looked(t, "saving", 0.6); lead(t).Where.Count = 7 }, "no_gpu", []string{"its loop was too short to say what held it back: 2253 steps, 7 looks"}},
	{"few looks, most of them at one thing", func(t *Trace) { onCPU(t); looked(t, "saving", 0.6); lead(t).Where.Count = 14 }, "checkpoint_bound no_gpu", nil},
	{"few looks, few of them at one thing", func(t *Trace) { onCPU(t); looked(t, "saving", 0.25); lead(t).Where.Count = 14 }, "no_gpu", nil},
	{"a stream that no worker divides", func(t *Trace) {
		starve(t, 0.8)
		lead(t).Loaders[0] = Loader{Stream: true, Where: "t.py:4", Source: "DataLoader(ds)"}
	}, "loader_bound", []string{"each worker would read all of it"}},
	{"a stream of one file", func(t *Trace) {
		starve(t, 0.8)
		lead(t).Loaders[0] = Loader{Stream: true, Divided: true, Files: 1, Where: "t.py:4", Source: "DataLoader(ds)"}
	}, "loader_bound", []string{"store it in several"}},
	{"a data set that holds a file open", func(t *Trace) {
		starve(t, 0.8)
		lead(t).Loaders[0] = Loader{Held: "zipfile.ZipFile", Where: "t.py:4", Source: "DataLoader(ds)"}
	}, "loader_bound", []string{"open zipfile.ZipFile", "forked workers would share", "then DataLoader(…, num_workers="}},
	{"workers that are not forked", func(t *Trace) {
		starve(t, 0.8)
		lead(t).Loaders[0] = Loader{Anew: true, Where: "t.py:4", Source: "DataLoader(ds)"}
	}, "loader_bound", []string{"__name__", "then DataLoader(…, num_workers="}},
	{"a data set that changes between epochs", func(t *Trace) {
		starve(t, 0.8)
		lead(t).Loaders[0] = Loader{Changes: true, Where: "t.py:4", Source: "DataLoader(ds)", Pin: true}
	}, "loader_bound", []string{"+ DataLoader(ds, num_workers=8)"}},
	{"a sampler", func(t *Trace) {
		starve(t, 0.8)
		looked(t, "sampler", 0.8, Spot{At: "t.py:5", Call: "builtins.sorted"})
	}, "loader_bound", []string{"its sampler, on the loop's own thread", "100 % is sorted (t.py:5)", "draw the order once an epoch"}},
	{"a library's data set, in which no line is the job's", func(t *Trace) {
		starve(t, 0.8)
		lead(t).Loaders[0] = Loader{Own: "t.py:4", Stream: true, Files: 1}
		looked(t, "item", 0.8, Spot{Call: "webdataset.autodecode.Decoder.__call__"})
	}, "loader_bound", []string{"100 % is webdataset.autodecode.Decoder.__call__, in the loader of t.py:4"}},
	{"looks that come as a sample is done", func(t *Trace) {
		starve(t, 0.8)
		looked(t, "item", 0.8, Spot{})
		w := lead(t).Where
		w.Top[0].N = w.Seen * 7 / 10
		w.Top = append(w.Top, Spot{At: "t.py:5", Func: "draw", Part: "item", N: w.Seen / 10})
	}, "loader_bound", []string{"; of the loading 100 % is draw (t.py:5)"}},
	{"a lock", func(t *Trace) {
		starve(t, 0.8)
		lead(t).Loaders[0] = Loader{Where: "t.py:4", Source: "DataLoader(ds)"}
		looked(t, "item", 0.8, Spot{At: "t.py:5", Call: "multiprocessing.synchronize.SemLock.__enter__"})
	}, "loader_bound", []string{"for a lock", "hold the lock for less"}},
	{"a lock that two workers share, of which one always works", func(t *Trace) {
		starve(t, 0.8)
		addWorkers(t, 2, 5, 0)
		for i := range 2 {
			t.Processes[1+i].Probe = &Probe{Where: &Where{Seen: 1e6, Looks: 1e6, Count: 100, Parts: map[string]int{"item": 1e6},
				Top: []Spot{{At: "t.py:6", Call: "time.sleep", Part: "item", N: 57e4}, {At: "t.py:5", Call: "fcntl.flock", Part: "item", N: 43e4}}}}
		}
	}, "loader_bound", []string{"for a lock", "hold the lock for less"}},
	{"a validation loader has more workers", func(t *Trace) {
		starve(t, 0.8)
		lead(t).Loaders = []Loader{{Workers: 8, Where: "t.py:4"}, {Where: "t.py:5", Source: "DataLoader(train)", Trains: true}}
	}, "loader_bound", []string{"+ DataLoader(train, num_workers="}},
	{"four workers in step", func(t *Trace) {
		addWorkers(t, 4, 10, 0)
		p := lead(t)
		p.Page.Load, p.Page.LoadP50, p.Page.LoadMax = 80, 0.001, 7
		p.Page.Warm = 40
	}, "healthy", nil},
	{"no GPU, batch of one", func(t *Trace) {
		onCPU(t)
		p := lead(t)
		p.Page.StepP50 = 0.001
		p.Batch.Shape[0] = 1
	}, "tiny_batch no_gpu", []string{"would hold a GPU back"}},
	{"a copy of the model that is averaged by hand", func(t *Trace) {
		onCPU(t)
		looked(t, "python", 0.2, Spot{At: "t.py:19", Func: "update_ema", Call: "copy.deepcopy"})
		w := lead(t).Where
		w.Top = append(w.Top, Spot{At: "t.py:21", Func: "update_ema", Part: "between", N: w.Seen / 4}, Spot{At: "t.py:29", Func: "train", Part: "forward", N: w.Seen / 2})
	}, "python_bound no_gpu", []string{"45 % of the time", "copy.deepcopy (t.py:19)"}},
	{"makes its input from lists, and collects their garbage", func(t *Trace) {
		onCPU(t)
		looked(t, "data", 0.22, Spot{At: "t.py:43", Call: "torch.tensor"})
		w := lead(t).Where
		for part, n := range map[string]int{"python": w.Seen * 16 / 100, "gc": w.Seen * 15 / 100} {
			w.Parts[part], w.Parts["forward"] = n, w.Parts["forward"]-n
			w.Top = append(w.Top, Spot{At: "t.py:42", Func: "<listcomp>", Part: part, N: n})
		}
	}, "loader_bound no_gpu", []string{"53 % of the time the loop fetches its input: torch.tensor (t.py:43), <listcomp> (t.py:42)"}},
	{"computes far from the line that makes its input", func(t *Trace) {
		onCPU(t)
		looked(t, "data", 0.15, Spot{At: "t.py:43", Call: "torch.tensor"})
		w := lead(t).Where
		w.Parts["python"], w.Top = w.Seen*15/100, append(w.Top, Spot{At: "t.py:30", Func: "f", Part: "python", N: w.Seen * 15 / 100}, Spot{At: "u.py:42", Part: "python"})
	}, "no_gpu", nil},
	{"a loop that does a little of both", func(t *Trace) {
		onCPU(t)
		looked(t, "python", 0.15, Spot{At: "t.py:19", Func: "train", Call: "random.choices"})
		w := lead(t).Where
		w.Top = append(w.Top, Spot{At: "t.py:21", Func: "train", Part: "between", N: w.Seen / 4}, Spot{At: "t.py:29", Func: "train", Part: "forward", N: w.Seen / 2})
	}, "no_gpu", nil},
	{"a batch of half a millisecond, on a busy machine", func(t *Trace) {
		onCPU(t)
		p := lead(t)
		p.Page.Load, p.Page.LoadCPU, p.Page.LoadSeen, p.Page.Warm = 0.35*p.Page.Step, 0.2, 1, uint64(p.Page.Step/0.007)
		p.Loaders = []Loader{{Where: "t.py:4"}}
		t.Processes[0].LoopCPU, t.Processes[0].LoopWall, t.Processes[0].Delay = 20, 100, 80
	}, "no_gpu", nil},
	{"a policy that reads each of its actions", func(t *Trace) {
		onCPU(t)
		b := lead(t).Burst
		b.Syncs, b.Calls = 300, 300
	}, "no_gpu", nil},
	{"a server of the job's own that is busy", func(t *Trace) {
		onCPU(t)
		lead(t).Page.Load, lead(t).Page.LoadCPU, lead(t).Page.LoadSeen = 60, 0.1, 1
		lead(t).Loaders = []Loader{{Where: "t.py:4", Source: "DataLoader(ds)"}}
		t.Processes = append(t.Processes, Process{PID: 100, CPU: 95, Wall: 100})
	}, "loader_bound no_gpu", []string{"fetch ahead, or keep a local copy"}},
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
	{"gradients are accumulated, and each batch copies", func(t *Trace) {
		starve(t, 0.8)
		lead(t).Page.Load = 1
		lead(t).Burst = &Burst{Steps: 5, Passes: 20, Copies: 400, Syncs: 20, Autocast: 20}
	}, "copies_each_step", []string{"20 copies from CPU to GPU a batch; the batch needs 2"}},
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
	{"one worker can do no more than the loop did", func(t *Trace) {
		onCPU(t)
		t.Host.CPUs = 2
		lead(t).Page.Load, lead(t).Page.LoadCPU, lead(t).Page.LoadSeen = 60, 0.9, 1
		lead(t).Loaders = []Loader{{Where: "t.py:4"}}
	}, "loader_bound no_gpu", []string{"90 s → 60 s at best", "num_workers=1"}},
	{"samples of what it only calls", func(t *Trace) {
		onCPU(t)
		lead(t).Page = Page{}
		looked(t, "between", 0.65, Spot{At: "t.py:7", Call: ".softmax"})
	}, "no_gpu", nil},
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
