package memory

import (
	"fmt"
	"slices"
	"strconv"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/say"
)

// whoseMemory: what is neither free nor this process's own belongs to others. A
// process of its own that fills the GPU is simply too big.
func whoseMemory(e *evidence.Evidence, out *evidence.Findings) {
	for _, a := range e.Memory {
		if a.Total <= 0 || a.Free < 0 || roomy(a) {
			continue
		}
		others := a.Others
		if a.Ours >= 0 {
			others = max(others, a.Total-a.Free-a.Ours)
		}
		switch {
		case a.Ours >= 0 && others > a.Total/3 && a.Ours < a.Total/2 && a.Tried < a.Total-a.Ours:
			out.DenyPlain(e.Check("ACC009"))
			out.Find("ACC010", evidence.Likely.Exact(), a.At).
				Says("%s of the GPU's %s are in use by other processes", machine.GiB(others), machine.GiB(a.Total)).
				Do(endHolders(e, a)...)
		case a.Ours < 0 && !e.From.NoProcesses.IsZero() && a.Free < a.Total/5 && inUse(e):
			out.Find("ACC010", evidence.Likely.Exact(), a.At, e.From.NoProcesses).
				Says("%s of the GPU's %s are in use, and nvidia-smi lists no process: "+
					"one of another container or user, or one that ended, holds them",
					machine.GiB(a.Total-a.Free), machine.GiB(a.Total)).
				Do("on the host: `sudo fuser -v /dev/nvidia*` shows who; end that process",
					"none there: restart the container that had it, or `sudo nvidia-smi --gpu-reset -i 0` while nothing runs")
		case a.Ours > a.Total/2:
			out.Find("ACC009", evidence.Likely, a.At).
				Says("the job itself holds %s of the GPU's %s", machine.GiB(a.Ours), machine.GiB(a.Total)).
				Do(smaller(e)...)
		case a.Tried > a.Total:
			out.Find("ACC009", evidence.Likely, a.At).
				Says("one allocation of %s is more than the GPU has (%s)", machine.GiB(a.Tried), machine.GiB(a.Total))
		}
	}
}

// smaller is what makes a job take less; a server of models takes a share of the whole GPU
// before it is asked anything, whoever holds the rest.
func smaller(e *evidence.Evidence) []string {
	if slices.Contains(e.Says.Extensions, "vllm") && e.Installed("vllm") == nil {
		return []string{"vLLM takes 0.9 of the whole GPU, whoever holds a part of it: `--gpu-memory-utilization 0.6` (in Python `gpu_memory_utilization=`), " +
			"or the share that `nvidia-smi` shows free",
			"a model that fills the GPU by itself: a quantized one (AWQ, GPTQ, FP8), `--max-model-len 4096`, or more GPUs, `--tensor-parallel-size 2`"}
	}
	return append([]string{"a smaller batch or sequence, bf16 in place of float32; in training gradient checkpointing, " +
		"to generate a smaller or quantized model"}, e.Knowledge.Checks["ACC009"].Fix[1:]...)
}

// size is an amount of memory as people write it.
func size(n int64) string {
	return say.Either(n < 1<<30, fmt.Sprintf("%d MiB", n>>20), machine.GiB(n))
}

// roomy reports whether a message says itself that there was room for what it tried.
func roomy(a evidence.Allocation) bool {
	return a.Tried > 0 && a.Free >= a.Tried+a.Tried/8 && a.Free > a.Total/8 && (a.Ours <= a.Total/2 || a.Free >= 8*a.Tried)
}

// outOfMemory is where CUDA, or a person, says that memory did not do.
func outOfMemory(e *evidence.Evidence) (evidence.Quote, bool) {
	if s, ok := e.Has("torch-oom", "torch-async-oom"); ok {
		return s, true
	}
	return e.Says.OutOfMemory, !e.Says.OutOfMemory.IsZero()
}

// fullTable: the message has no numbers, and nvidia-smi shows memory in use.
func fullTable(e *evidence.Evidence, out *evidence.Findings) {
	s, ok := outOfMemory(e)
	if !ok || len(e.Memory) > 0 {
		return
	}
	for _, u := range e.Used {
		if u.Total <= 0 || u.Bytes <= u.Total*8/10 {
			continue
		}
		text := fmt.Sprintf("%s of the GPU's %s were in use when nvidia-smi looked", machine.GiB(u.Bytes), machine.GiB(u.Total))
		var fix []string
		if n := freeGPU(e); u.GPU >= 0 && n >= 0 {
			text = fmt.Sprintf("%s of the %s of GPU %d were in use when nvidia-smi looked", machine.GiB(u.Bytes), machine.GiB(u.Total), u.GPU)
			fix = append([]string{fmt.Sprintf("`export CUDA_VISIBLE_DEVICES=%d` uses GPU %d, which has room", n, n)},
				e.Knowledge.Checks["ACC010"].Fix...)
		}
		proof, none := evidence.Strong, e.From.NoProcesses
		if !none.IsZero() {
			proof = evidence.Likely
			text += ", and it lists no process: one that ended or stopped still holds it"
		}
		out.Find("ACC010", proof, u.At, none, s).Say(text).Do(fix...)
		return
	}
}

// freeGPU is the index of a GPU of nvidia-smi's table of which little is in use; -1 none.
func freeGPU(e *evidence.Evidence) int {
	for _, u := range e.Used {
		if u.GPU >= 0 && u.Total > 0 && u.Bytes < u.Total/5 {
			return u.GPU
		}
	}
	return -1
}

// emptiest is the index of a GPU of nvidia-smi's table that nobody seems to have, while the
// first is somebody's: a CUDA context alone takes some hundred MiB. -1 none.
func emptiest(e *evidence.Evidence) int {
	const context = 200 << 20
	i := slices.IndexFunc(e.Used, func(u evidence.Usage) bool { return u.GPU >= 0 && u.Bytes < context })
	if i < 0 || e.Used[0].Bytes < context {
		return -1
	}
	return e.Used[i].GPU
}

// exclusiveRoom: in exclusive mode the second process gets no memory, whatever is free:
// CUDA calls that "busy or unavailable" or "out of memory", by its version.
func exclusiveRoom(e *evidence.Evidence, out *evidence.Findings) {
	mode, exclusive := e.Has("exclusive-mode")
	if n := emptiest(e); exclusive && n > 0 && e.Hit("cuda-busy") != nil {
		out.Find("ACC004", evidence.Likely.Exact(), mode).
			Do(fmt.Sprintf("`export CUDA_VISIBLE_DEVICES=%d` uses GPU %d, which nobody has", n, n), e.Knowledge.Checks["ACC004"].Fix[0])
	}
	s, ok := outOfMemory(e)
	if !ok || !exclusive || inUse(e) || slices.ContainsFunc(e.Memory, func(a evidence.Allocation) bool { return !roomy(a) }) {
		return
	}
	out.DenyPlain(e.Check("ACC009"))
	out.Find("ACC004", evidence.Likely.Exact(), mode, s).
		Say("the GPU is in exclusive mode, which lets one process in: the memory is not full, the place is taken")
}

// roomLeft: the allocation failed although the GPU has room, as the message says itself
// or nvidia-smi does. Reports: PyTorch issue 40002 (the computer's own memory was full),
// 16417 (a job's limit), on Windows the page file.
func roomLeft(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	s, ok := outOfMemory(e)
	if !ok || inUse(e) || slices.ContainsFunc(e.Memory, func(a evidence.Allocation) bool { return !roomy(a) }) ||
		found.Any(func(f *evidence.Finding) bool {
			return (f.Check == "ACC010" || f.Check == "ACC004") && f.Proof >= evidence.Strong
		}) {
		return
	}
	free := e.Says.MemoryFree
	for _, u := range e.Used {
		if free.IsZero() && u.Total > 0 {
			free = u.At
		}
	}
	text := "the GPU's memory was free when somebody looked: the job fills it for a moment, takes another GPU, or is refused for another reason"
	for _, a := range e.Memory {
		free = a.At
		text = fmt.Sprintf("%s were refused though %s of the GPU's %s were free: another process took it at that moment, "+
			"or what is full is another memory", size(a.Tried), machine.GiB(a.Free), machine.GiB(a.Total))
	}
	if free.IsZero() {
		return
	}
	out.DenyPlain(e.Check("ACC009"))
	out.Find("ACC009", evidence.Likely, s, free).Say(text).Do(otherLimits(e, len(e.Memory) > 0)...)
}

// otherLimits are what else refuses memory of a GPU, and how to tell which; numbers: the
// message itself says that memory was free.
func otherLimits(e *evidence.Evidence, numbers bool) []string {
	watch := "`nvidia-smi --query-gpu=index,compute_mode,memory.used,memory.total --format=csv -l 1` beside the job while it starts " +
		"shows the GPU that it takes, whether it fills up for a moment, and a mode that lets one process in alone (Default is none)"
	host := "the computer's own memory: `free -g` while it runs, `ulimit -v` (unlimited it should be), in Slurm a greater `--mem`, in a container its limit"
	if e.Machine.Platform.OS == "windows" {
		host = "the page file, against which Windows counts memory of the GPU: Settings, System, About, Advanced system settings, Performance, " +
			"Virtual memory: let Windows manage its size, and restart"
	}
	smaller := "it is the job itself that fills it: a smaller batch or model; what it holds at most says `torch.cuda.max_memory_allocated()`"
	if numbers {
		return []string{"end other programs that use the GPU, a first start of this one among them, and try again; then restart the computer",
			host, watch, "a share of the GPU that the process was given: `torch.cuda.set_per_process_memory_fraction` in the code, a vGPU, MPS"}
	}
	return []string{watch, smaller, host}
}

// sliced: a GPU that can be divided, and a message that knows of a part of its memory.
func sliced(e *evidence.Evidence, out *evidence.Findings) {
	for _, a := range e.Memory {
		whole := wholeMemory(e)
		if whole == 0 || a.Total <= 0 || a.Total > whole/10*7 {
			continue
		}
		out.DenyPlain(e.Check("ACC009"))
		out.Find("ACC007", evidence.Likely.Exact(), a.At).
			Says("the job sees %s of a GPU that has %s: it runs on a MIG instance, or another share of it, and has no more than that",
				machine.GiB(a.Total), machine.GiB(whole)).
			Do("`nvidia-smi -L` lists the instances, `nvidia-smi mig -lgip` the sizes that there are",
				"ask for a larger one: of the scheduler, or `CUDA_VISIBLE_DEVICES` with the name of another instance",
				"or a smaller batch or model, which fits "+machine.GiB(a.Total)).
			As(evidence.Error)
	}
}

var inName = lazy.Regexp(`(?i)\b(?:A100|A30|H100|H200|H20|GH200|B200|B300)\b.{0,16}?\b(\d{2,3}) ?GB\b`)

// wholeMemory is the memory of the GPU, where all that are known are alike and can be
// divided; 0 unknown.
func wholeMemory(e *evidence.Evidence) int64 {
	whole := int64(0)
	for _, g := range e.Machine.GPUs {
		n := g.MemoryBytes
		if m := inName().FindStringSubmatch(g.Name); n == 0 && m != nil {
			gb, _ := strconv.ParseInt(m[1], 10, 64)
			n = gb << 30
		}
		if g.Vendor != machine.NVIDIA || n == 0 || whole > 0 && whole != n || !slices.Contains(e.Limit("mig-capable").Values, g.SM.String()) {
			return 0
		}
		whole = n
	}
	return whole
}

// inUse reports whether nvidia-smi shows a GPU whose memory is nearly all in use.
func inUse(e *evidence.Evidence) bool {
	return slices.ContainsFunc(e.Used, func(u evidence.Usage) bool { return u.Total > 0 && u.Bytes > u.Total*8/10 })
}

// endHolders is how to find and end the processes that hold a GPU's memory.
func endHolders(e *evidence.Evidence, a evidence.Allocation) []string {
	if len(a.Holders) == 0 {
		return []string{"`nvidia-smi` and `sudo fuser -v /dev/nvidia*` show who; end that process"}
	}
	pid := a.Holders[0]
	show, end := "ps -fp "+pid, "kill "+pid
	if e.Machine.Platform.OS == "windows" {
		show, end = "Get-Process -Id "+pid, "Stop-Process -Id "+pid
	}
	return []string{fmt.Sprintf("process %s holds most of it: `%s` shows what it is, `%s` ends it (in a container the number is the host's)",
		pid, show, end)}
}
