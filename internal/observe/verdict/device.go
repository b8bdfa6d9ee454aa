package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"
)

func (f *facts) gpuName(i int) string {
	g := f.t.GPUs[i]
	return say.Either(g.Name == "", fmt.Sprintf("GPU %d", g.Index), fmt.Sprintf("GPU %d (%s)", g.Index, g.Name))
}

// cpuBuild: the torch that the job imported cannot use the GPU that is there.
func cpuBuild(f *facts) *Finding {
	if len(f.t.GPUs) == 0 && f.t.Host.OtherGPU != "nvidia" {
		return nil
	}
	p, from := f.probe(), "the probe"
	cpu := p.Version != "" && p.CUDA == "" && p.HIP == "" && !p.XPU
	if p.Version == "" && f.lead.Torch == "cpu" {
		cpu, from = true, "the libraries it loaded"
	}
	if !cpu && !f.crashSays("Torch not compiled with CUDA enabled") {
		return nil
	}
	name := "the GPU"
	if len(f.t.GPUs) > 0 {
		name = f.gpuName(0)
	}
	return f.finding(CPUBuild, high, numbers{"torch": p.Version, "cuda_build": nil, "seen_by": from},
		strings.TrimSpace("PyTorch "+p.Version)+" cannot use "+name+": this build has no CUDA",
		"`envfix apply` installs the build that fits this GPU and driver", "`envfix why torch` says which one, and why")
}

// unusable are the words of torch and CUDA for a GPU that cannot be used at
// all (c10/cuda/CUDAFunctions.cpp, torch/cuda/__init__.py, cudaGetErrorString).
var unusable = []string{
	"CUDA driver version is insufficient", "Found no NVIDIA driver", "NVIDIA driver on your system is too old", "No CUDA GPUs are available",
	"CUDA unknown error", "no kernel image is available", "CUDA-capable device(s) is/are busy or unavailable", "forward compatibility was attempted",
	"system not yet initialized", "CUDA driver initialization failed", "Cannot re-initialize CUDA in forked subprocess", "invalid device ordinal",
	"No HIP GPUs are available",
}

// cudaUnusable: a CUDA build and a GPU, and something between them bars it.
func cudaUnusable(f *facts) *Finding {
	for _, g := range f.t.GPUs {
		if g.Lost {
			return f.finding(CUDAUnusable, high, numbers{"gpu": g.Index}, fmt.Sprintf("GPU %d fell off the bus during the run", g.Index), betweenThem)
		}
	}
	if len(f.t.GPUs) > 0 && hidden(f.visible()) && !f.touchedGPU() {
		return f.finding(CUDAUnusable, high, numbers{"cuda_visible_devices": *f.visible()},
			fmt.Sprintf("CUDA_VISIBLE_DEVICES=%q hides every GPU: PyTorch saw 0 of %d", *f.visible(), len(f.t.GPUs)), "unset CUDA_VISIBLE_DEVICES")
	}
	for _, s := range unusable {
		if f.crashSays(s) {
			said, fix := firstLine(f.crash().Text), betweenThem
			if strings.HasPrefix(s, "Cannot re-initialize") {
				fix = "multiprocessing.set_start_method(\"spawn\"), or no CUDA before the fork"
			}
			return f.finding(CUDAUnusable, high, numbers{"error": said}, "the job could not use the GPU: "+said, fix)
		}
	}
	if f.t.Host.OtherGPU == "nvidia" && len(f.t.GPUs) == 0 && !f.touchedGPU() {
		return f.finding(CUDAUnusable, high, nil, "an NVIDIA GPU is on the bus, and its driver does not answer", betweenThem)
	}
	return nil
}

const betweenThem = "`envfix doctor` says what is wrong between PyTorch and the GPU"

// computedOnCPU reports whether a torch for CUDA did work, and no GPU was touched.
func computedOnCPU(f *facts, p *Probe) bool {
	return f.crash() == nil && (p.CUDA != "" || f.lead.Torch == "cuda") && !f.touchedGPU() && len(f.used) == 0 && (p.Page.Batches > 0 || f.lead.CPU > 10)
}

// modelOnCPU: torch could use the GPU, and the job never gave it anything.
func modelOnCPU(f *facts) *Finding {
	if len(f.t.GPUs) == 0 || !f.idle.ok || f.idle.v <= idleNever || hidden(f.visible()) {
		return nil
	}
	p, free := f.probe(), false
	for i := range f.t.GPUs {
		free = free || !f.foreign(i)
	}
	all, cpu, _ := p.params()
	x := f.finding(ModelOnCPU, high, nil, "", "device = \"cuda\"; model.to(device)", "x, y = x.to(device), y.to(device)")
	switch {
	case !free:
		return nil
	case all > 0 && cpu == all && p.CUDA != "":
		x.also(true, fmt.Sprintf("all %s parameters stayed on the CPU; GPU %d was never touched", count(all), f.t.GPUs[0].Index),
			numbers{"parameters": all, "parameters_on_cpu": cpu})
	case all == 0 && computedOnCPU(f, p):
		x.Confidence = medium
		x.also(true, fmt.Sprintf("the job used %s of CPU time, and no GPU was ever touched", seconds(f.lead.CPU)), numbers{"cpu_s": round(f.lead.CPU)})
	default:
		return nil
	}
	if p.SaidNo {
		x.also(true, "; torch.cuda.is_available() answered False", numbers{"is_available": false})
		x.Fix = append([]string{"`envfix doctor` says why torch.cuda.is_available() is False"}, x.Fix...)
	}
	return x
}

// cudaSaidNo: torch itself told the job that there is no usable GPU.
func cudaSaidNo(f *facts) *Finding {
	if p := f.probe(); len(f.t.GPUs) == 0 || !p.SaidNo || p.CUDA == "" || p.CUDAInit || len(f.used) > 0 {
		return nil
	}
	return f.finding(CUDAUnusable, medium, numbers{"is_available": false},
		"torch.cuda.is_available() answered False, and NVML shows "+text.Count(len(f.t.GPUs), "GPU"), betweenThem)
}

// speed compares GPUs: cores × clock, or memory where cores are unknown.
func speed(g GPU) float64 { return float64(g.Cores) * float64(g.Clock) }

// wrongGPU: the job sits on the slower GPU while a faster one is free.
func wrongGPU(f *facts) *Finding {
	if len(f.used) != 1 || f.world() > 1 || f.visibleCount() < 2 {
		return nil
	}
	mine := f.used[0]
	for i, g := range f.t.GPUs {
		if i == mine || !f.free(i) || speed(g) == 0 || speed(f.t.GPUs[mine]) == 0 || speed(g) < 1.5*speed(f.t.GPUs[mine]) {
			continue
		}
		return f.finding(WrongGPU, medium, numbers{"used": f.t.GPUs[mine].Index, "faster": g.Index},
			fmt.Sprintf("the job runs on %s; %s is faster and was free", f.gpuName(mine), f.gpuName(i)),
			"CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES="+cmp.Or(g.UUID, fmt.Sprint(g.Index)))
	}
	return nil
}

// free reports whether nobody used a GPU.
func (f *facts) free(i int) bool {
	g, s := f.t.GPUs[i], f.whole[i]
	u := s.util()
	return s.Theirs == 0 && s.Ours == 0 && (!u.ok || u.v < 10) && (g.Memory == 0 || share(s.Used, g.Memory) < 0.1)
}

// otherProcess: somebody else holds the GPU.
func otherProcess(f *facts) *Finding {
	for i, g := range f.t.GPUs {
		if !f.foreign(i) || len(f.used) > 0 && !slices.Contains(f.used, i) {
			continue // held, but the job works elsewhere
		}
		held := f.whole[i].Theirs
		x := f.finding(OtherProcess, high, nil, "", "`envfix watch` shows who uses which GPU")
		if g.Attributed && len(g.Tenants) > 0 {
			t := g.Tenants[0]
			held = t.Memory
			who := fmt.Sprintf("PID %d", t.PID) + say.If(t.User != "", fmt.Sprintf(" (user %s, %s)", t.User, t.Name))
			x.Evidence["pid"] = t.PID
			x.Text = fmt.Sprintf("GPU %d: %s holds %s of %s", g.Index, who, mib(held), mib(g.Memory))
		} else {
			if !g.Attributed {
				held, x.Confidence = *g.Before, medium
			}
			x.Text = fmt.Sprintf("GPU %d: %s of %s were in use before this job touched it", g.Index, mib(held), mib(g.Memory))
		}
		x.Evidence["gpu"], x.Evidence["held_mib"], x.Evidence["total_mib"] = g.Index, held, g.Memory
		for j := range f.t.GPUs {
			if j != i && f.free(j) {
				x.Text += fmt.Sprintf("; GPU %d is free", f.t.GPUs[j].Index)
				x.Fix = []string{fmt.Sprintf("CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=%d", f.t.GPUs[j].Index)}
				break
			}
		}
		return x
	}
	return nil
}

// oneGPUOfN: one process on one GPU, the others free.
func oneGPUOfN(f *facts) *Finding {
	n := f.visibleCount()
	if n < 2 || len(f.used) != 1 || f.world() > 1 || len(f.probe().Parallel) > 0 {
		return nil
	}
	idle := 0
	for i := range f.t.GPUs {
		if i != f.used[0] && f.free(i) {
			idle++
		}
	}
	if idle = min(idle, n-1); idle == 0 {
		return nil
	}
	x := f.finding(OneGPUOfN, high, numbers{"visible": n, "used": 1},
		fmt.Sprintf("1 of %d GPUs worked; %s free", n, say.Either(idle == 1, "another was", fmt.Sprintf("%d others were", idle))),
		fmt.Sprintf("torchrun --nproc_per_node=%d …, with the model in DistributedDataParallel and a DistributedSampler", idle+1),
		"if one is meant: CUDA_VISIBLE_DEVICES=N leaves the others to other jobs")
	if s := f.step(); s.ok && s.v > 0 {
		x.Gain = Gain{"steps_per_s": {round(1 / s.v), round(float64(idle+1) / s.v)}}
	}
	return x
}

// memoryButIdle: the model lies in the GPU's memory and nothing runs.
func memoryButIdle(f *facts) *Finding {
	last := f.probe().Page.LastAt
	for _, i := range f.used {
		g, mine := f.t.GPUs[i], f.mine(i)
		if idle := f.whole[i].idle(); g.Memory == 0 || !idle.ok || idle.v <= 0.9 || share(mine, g.Memory) <= memHeld || f.t.Seconds-last < 60 {
			continue
		}
		return f.finding(MemoryButIdle, medium, numbers{"gpu": g.Index, "held_mib": mine},
			fmt.Sprintf("%s lie in GPU %d's memory and nothing runs on it: no step for %s", mib(mine), g.Index, seconds(f.t.Seconds-last)),
			"`envfix watch --pid PID` says what the process waits for")
	}
	return nil
}

// mine is the memory of a GPU that the job has; of all processes where they cannot be told apart.
func (f *facts) mine(i int) int64 {
	if f.t.GPUs[i].Attributed {
		return f.whole[i].Ours
	}
	return f.whole[i].Used
}

// notTraining: nothing of the job looks like a training loop yet.
func notTraining(f *facts) *Finding {
	p := f.probe()
	if f.noGPU || p.Page.Steps > 0 || p.Page.Batches > 0 || len(f.used) > 0 || f.idle.ok && f.idle.v < idleNever {
		return nil
	}
	core := f.core()
	x := f.finding(NotTraining, low, nil, "").also(core.ok, "", numbers{"main_core": round(core.v)})
	torch := p.Version != "" || f.lead.Torch != ""
	switch c := f.crash(); {
	case c != nil:
		x.Text = fmt.Sprintf("the job ended with %s before its first step", c.Type)
	case !torch:
		x.Text = "the GPU was not used" + outside(f)
	case f.t.Seconds >= 60 && core.ok && core.v > 0.5:
		x.Confidence = medium
		x.Text = fmt.Sprintf("no training step in %s: still preparing, on the CPU (%.1f cores)", seconds(f.t.Seconds), core.v)
		x.Fix = []string{"do the preparation once and keep its result on disk"}
	default:
		x.Text = fmt.Sprintf("no training step in %s, and the GPU was not used", seconds(f.t.Seconds))
	}
	return x
}

// outside is what the machine shows of a job that the probe knows nothing of, or that
// it saw too little of.
func outside(f *facts) string {
	p := f.lead
	if w := f.probe().Where; w != nil && f.looks() == nil {
		return fmt.Sprintf("; its loop was too short to say what held it back: %s, %s at them",
			text.Count(int(f.probe().Page.Steps), "step"), text.Count(w.Count, "look"))
	}
	if p.Probe != nil || p.Torch != "" {
		return ""
	}
	said := "; no process of this job loaded PyTorch, and the probe knows no other library"
	said += say.If(p.Wall > 0, fmt.Sprintf(". From outside: %.1f of %.3g processors, %s of memory", p.CPU/p.Wall, f.t.Host.Allowed(), mib(f.t.Host.MemoryPeak)))
	if blocked := ratio(float64(p.Blocked), p.Samples); blocked.v > blockedMuch {
		said += fmt.Sprintf(", %s of the time waiting for storage", pct(blocked.v))
	}
	return said
}

// died: a signal that nobody sends by hand ended the job.
func died(f *facts) *Finding {
	what := map[string]string{"SEGV": "a library touched memory that is not its own", "ABRT": "a library gave up", "BUS": "mapped memory could not be had",
		"ILL": "code for another processor", "FPE": "a division by zero in a library", "KILL": "by the kernel for want of memory, or by somebody"}[f.t.Signal]
	if what == "" || f.crash() != nil {
		return nil
	}
	when := "before PyTorch was loaded"
	if n := f.probe().Page.Steps; n > 0 {
		when = fmt.Sprintf("after step %d", n)
	} else if f.lead.Probe != nil {
		when = "before its first step"
	}
	fix := say.Either(f.t.Signal == "KILL", "`dmesg` names what the kernel killed for want of memory", "PYTHONFAULTHANDLER=1 prints the line that ran")
	return f.finding(Died, medium, numbers{"signal": f.t.Signal}, fmt.Sprintf("the job was ended by SIG%s %s: %s", f.t.Signal, when, what), fix)
}
