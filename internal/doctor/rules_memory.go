package doctor

import (
	"fmt"
	"slices"
	"strconv"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
)

// memoryRules look at a GPU whose memory did not do: whose it is, and whether it is full.
var memoryRules = []rule{
	{[]string{"ACC010", "ACC009"}, "the numbers of an out-of-memory message", (*exam).whoseMemory},
	{[]string{"ACC010"}, "an out-of-memory message, and nvidia-smi that shows full memory", (*exam).fullTable},
	{[]string{"ACC004"}, "an out-of-memory message, and a GPU in exclusive mode with room", (*exam).exclusiveRoom},
	{[]string{"ACC009"}, "an out-of-memory message, and memory that is free", (*exam).roomLeft},
	{[]string{"ACC007"}, "the GPU's memory, and what a message says of it", (*exam).sliced},
}

// whoseMemory: what is neither free nor this process's own belongs to others. A
// process of its own that fills the GPU is simply too big.
func (e *exam) whoseMemory() {
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
			e.notFull()
			e.find("ACC010", likely+5, a.At).
				says("%s of the GPU's %s are in use by other processes", gib(others), gib(a.Total)).
				fix(e.endHolders(a)...)
		case a.Ours < 0 && !e.From.NoProcesses.IsZero() && a.Free < a.Total/5 && e.inUse():
			e.find("ACC010", likely+5, a.At, e.From.NoProcesses).
				says("%s of the GPU's %s are in use, and nvidia-smi lists no process: "+
					"one of another container or user, or one that ended, holds them",
					gib(a.Total-a.Free), gib(a.Total)).
				fix("on the host: `sudo fuser -v /dev/nvidia*` shows who; end that process",
					"none there: restart the container that had it, or `sudo nvidia-smi --gpu-reset -i 0` while nothing runs").
				explains("ACC009")
		case a.Ours > a.Total/2:
			e.find("ACC009", likely, a.At).
				says("the job itself holds %s of the GPU's %s", gib(a.Ours), gib(a.Total)).
				fix(append([]string{"a smaller batch or sequence, bf16 in place of float32; in training gradient checkpointing, " +
					"to generate a smaller or quantized model"}, e.k.Checks["ACC009"].Fix[1:]...)...)
		case a.Tried > a.Total:
			e.find("ACC009", likely, a.At).
				says("one allocation of %s is more than the GPU has (%s)", gib(a.Tried), gib(a.Total))
		}
	}
}

// size is an amount of memory as people write it.
func size(n int64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return gib(n)
}

// notFull takes back that the GPU's memory is full, which the message alone says: a rule
// knows better, or more exactly.
func (e *exam) notFull() {
	e.out = slices.DeleteFunc(e.out, func(f *finding) bool { return f.Check == "ACC009" && f.Text == e.k.Checks["ACC009"].Text })
}

// roomy reports whether a message says itself that there was room for what it tried.
func roomy(a read.Allocation) bool {
	return a.Tried > 0 && a.Free >= a.Tried+a.Tried/8 && a.Free > a.Total/8 && (a.Ours <= a.Total/2 || a.Free >= 8*a.Tried)
}

// outOfMemory is where CUDA, or a person, says that memory did not do.
func (e *exam) outOfMemory() (read.Evidence, bool) {
	if s, ok := e.has("torch-oom", "torch-async-oom"); ok {
		return s, true
	}
	return e.Says.OutOfMemory, !e.Says.OutOfMemory.IsZero()
}

// fullTable: the message has no numbers, and nvidia-smi shows memory in use.
func (e *exam) fullTable() {
	s, ok := e.outOfMemory()
	if !ok || len(e.Memory) > 0 {
		return
	}
	for _, u := range e.Used {
		if u.Total <= 0 || u.Bytes <= u.Total*8/10 {
			continue
		}
		f := Finding{Text: fmt.Sprintf("%s of the GPU's %s were in use when nvidia-smi looked", gib(u.Bytes), gib(u.Total))}
		if n := e.freeGPU(); u.GPU >= 0 && n >= 0 {
			f.Text = fmt.Sprintf("%s of the %s of GPU %d were in use when nvidia-smi looked", gib(u.Bytes), gib(u.Total), u.GPU)
			f.Fix = append([]string{fmt.Sprintf("`export CUDA_VISIBLE_DEVICES=%d` uses GPU %d, which has room", n, n)},
				e.k.Checks["ACC010"].Fix...)
		}
		if none := e.From.NoProcesses; !none.IsZero() {
			f.Text += ", and it lists no process: one that ended or stopped still holds it"
			e.find("ACC010", likely, u.At, none, s).with(f).explains("ACC009")
			return
		}
		e.find("ACC010", strong, u.At, s).with(f)
		return
	}
}

// freeGPU is the index of a GPU of nvidia-smi's table of which little is in use; -1 none.
func (e *exam) freeGPU() int {
	for _, u := range e.Used {
		if u.GPU >= 0 && u.Total > 0 && u.Bytes < u.Total/5 {
			return u.GPU
		}
	}
	return -1
}

// emptiest is the index of a GPU of nvidia-smi's table that nobody seems to have, while the
// first is somebody's: a CUDA context alone takes some hundred MiB. -1 none.
func (e *exam) emptiest() int {
	const context = 200 << 20
	i := slices.IndexFunc(e.Used, func(u read.Usage) bool { return u.GPU >= 0 && u.Bytes < context })
	if i < 0 || e.Used[0].Bytes < context {
		return -1
	}
	return e.Used[i].GPU
}

// exclusiveRoom: in exclusive mode the second process gets no memory, whatever is free:
// CUDA calls that "busy or unavailable" or "out of memory", by its version.
func (e *exam) exclusiveRoom() {
	mode, exclusive := e.has("exclusive-mode")
	if n := e.emptiest(); exclusive && n > 0 && e.hit("cuda-busy") != nil {
		e.find("ACC004", likely+5, mode).
			fix(fmt.Sprintf("`export CUDA_VISIBLE_DEVICES=%d` uses GPU %d, which nobody has", n, n), e.k.Checks["ACC004"].Fix[0])
	}
	s, ok := e.outOfMemory()
	if !ok || !exclusive || e.inUse() || slices.ContainsFunc(e.Memory, func(a read.Allocation) bool { return !roomy(a) }) {
		return
	}
	e.notFull()
	e.find("ACC004", likely+5, mode, s).
		text("the GPU is in exclusive mode, which lets one process in: the memory is not full, the place is taken").
		explains("ACC009")
}

// roomLeft: the allocation failed although the GPU has room, as the message says itself
// or nvidia-smi does. Reports: PyTorch issue 40002 (the computer's own memory was full),
// 16417 (a job's limit), on Windows the page file.
func (e *exam) roomLeft() {
	s, ok := e.outOfMemory()
	if !ok || e.inUse() || slices.ContainsFunc(e.Memory, func(a read.Allocation) bool { return !roomy(a) }) ||
		slices.ContainsFunc(e.out, func(f *finding) bool {
			return (f.Check == "ACC010" || f.Check == "ACC004") && f.weight >= strong
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
			"or what is full is another memory", size(a.Tried), gib(a.Free), gib(a.Total))
	}
	if free.IsZero() {
		return
	}
	e.notFull()
	e.find("ACC009", likely, s, free).text(text).fix(e.otherLimits(len(e.Memory) > 0)...)
}

// otherLimits are what else refuses memory of a GPU, and how to tell which; numbers: the
// message itself says that memory was free.
func (e *exam) otherLimits(numbers bool) []string {
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
func (e *exam) sliced() {
	for _, a := range e.Memory {
		whole := e.wholeMemory()
		if whole == 0 || a.Total <= 0 || a.Total > whole/10*7 {
			continue
		}
		e.notFull()
		e.find("ACC007", likely+8, a.At).
			says("the job sees %s of a GPU that has %s: it runs on a MIG instance, or another share of it, and has no more than that",
				gib(a.Total), gib(whole)).
			fix("`nvidia-smi -L` lists the instances, `nvidia-smi mig -lgip` the sizes that there are",
				"ask for a larger one: of the scheduler, or `CUDA_VISIBLE_DEVICES` with the name of another instance",
				"or a smaller batch or model, which fits "+gib(a.Total)).
			severity(know.Error).
			explains("ACC009", "ACC010", "ACC006")
	}
}

var inName = lazy.Regexp(`(?i)\b(?:A100|A30|H100|H200|H20|GH200|B200|B300)\b.{0,16}?\b(\d{2,3}) ?GB\b`)

// wholeMemory is the memory of the GPU, where all that are known are alike and can be
// divided; 0 unknown.
func (e *exam) wholeMemory() int64 {
	whole := int64(0)
	for _, g := range e.Machine.GPUs {
		n := g.MemoryBytes
		if m := inName().FindStringSubmatch(g.Name); n == 0 && m != nil {
			gb, _ := strconv.ParseInt(m[1], 10, 64)
			n = gb << 30
		}
		if g.Vendor != machine.NVIDIA || n == 0 || whole > 0 && whole != n || !slices.Contains(e.limit("mig-capable").Values, g.SM.String()) {
			return 0
		}
		whole = n
	}
	return whole
}

// inUse reports whether nvidia-smi shows a GPU whose memory is nearly all in use.
func (e *exam) inUse() bool {
	return slices.ContainsFunc(e.Used, func(u read.Usage) bool { return u.Total > 0 && u.Bytes > u.Total*8/10 })
}

// endHolders is how to find and end the processes that hold a GPU's memory.
func (e *exam) endHolders(a read.Allocation) []string {
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
