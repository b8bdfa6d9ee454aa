package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
)

// useRules look at what the GPUs are doing, and how they are set up. They see
// nothing in a paste.
var useRules = []rule{
	{[]string{"ACC010", "PERF016"}, "memory and processes of each GPU", (*exam).full},
	{[]string{"ACC010"}, "memory that no listed process holds", (*exam).orphaned},
	{[]string{"ACC004", "ACC005"}, "the compute mode and the processes", (*exam).computeMode},
	{[]string{"ACC006"}, "MIG mode and its instances", (*exam).noInstances},
	{[]string{"DRV014", "HW002", "HW009"}, "a GPU that NVML lists and cannot reach", (*exam).unreachable},
	{[]string{"HW003", "HW004"}, "the counts of memory errors", (*exam).memoryErrors},
	{
		[]string{"HW002", "HW003", "HW004", "HW006", "HW009", "KMD008", "KMD010", "KMD011", "KMD012", "KMD013"},
		"the kernel's log", (*exam).kernelErrors,
	},
	{[]string{"PERF005", "PERF006"}, "what slows a GPU that works", (*exam).slowed},
	{[]string{"DRV016"}, "the persistence mode", (*exam).persistence},
}

// used are NVIDIA's GPUs of which it is known what they do.
func (e *exam) used() []machine.GPU {
	var out []machine.GPU
	for _, g := range e.Machine.GPUs {
		if g.Vendor == machine.NVIDIA && g.Use != nil {
			out = append(out, g)
		}
	}
	return out
}

// defaultGPU is the GPU that a program gets that asks for none: cuda:0. -1: not
// known, because CUDA puts the fastest first where they differ (CUDA programming
// guide, CUDA_DEVICE_ORDER).
func (e *exam) defaultGPU() int {
	v, set := e.Machine.Env["CUDA_VISIBLE_DEVICES"]
	first, _, _ := strings.Cut(v, ",")
	first = strings.TrimSpace(first)
	gpus := e.visibleNVIDIA()
	for i, g := range gpus {
		switch {
		case set && first != "" && g.UUID != "" && strings.HasPrefix(g.UUID, first):
			return g.Index
		case e.mixed():
		case !set && i == 0, set && first == strconv.Itoa(i):
			return g.Index
		}
	}
	return -1
}

func (e *exam) visibleNVIDIA() []machine.GPU {
	return slices.DeleteFunc(slices.Clone(e.Machine.GPUs),
		func(g machine.GPU) bool { return g.Vendor != machine.NVIDIA || !g.Visible })
}

// mixed reports whether CUDA's order of the GPUs may be another than the driver's.
func (e *exam) mixed() bool {
	gpus := e.visibleNVIDIA()
	return e.Machine.Env["CUDA_DEVICE_ORDER"] != "PCI_BUS_ID" &&
		slices.ContainsFunc(gpus, func(g machine.GPU) bool { return g.Name != gpus[0].Name })
}

// stops reports whether a GPU that cannot be had stops a program that asks for
// none: it is the one that the program gets, or all are so.
func (e *exam) stops(g machine.GPU, blocked func(machine.GPU) bool) bool {
	if def := e.defaultGPU(); def >= 0 {
		return def == g.Index
	}
	return !slices.ContainsFunc(e.visibleNVIDIA(), func(o machine.GPU) bool { return !blocked(o) })
}

func gpuName(g machine.GPU) string { return fmt.Sprintf("GPU %d (%s)", g.Index, nameOr(g)) }

// isFull: nine tenths of the memory are in use. A CUDA context alone takes a few
// hundred MiB, and a program that was not made for it fails soon after.
func isFull(g machine.GPU) bool {
	return g.Use != nil && g.Use.MemoryUsed != nil && g.MemoryBytes > 0 && !g.Integrated &&
		*g.Use.MemoryUsed >= g.MemoryBytes/10*9
}

// full: the GPU that a program would get has no memory left. A full GPU beside it
// is somebody's job, and no fault.
func (e *exam) full() {
	for _, g := range e.used() {
		if !g.Visible || !isFull(g) {
			continue
		}
		check, weight := "ACC010", likely+5
		if n := len(g.Use.Processes); n > 0 &&
			!slices.ContainsFunc(g.Use.Processes, func(p machine.Process) bool { return p.Kind != "graphics" }) {
			check = "PERF016"
		}
		f := Finding{
			Text: gpuName(g) + " is full: " + e.holders(g),
			Fix:  append(e.makeRoom(g), "a smaller batch or model needs less"),
		}
		stops := e.stops(g, isFull)
		if !stops {
			weight = trifle
		}
		found := e.find(check, weight,
			fact("%s of %s in use on GPU %d", machine.GiB(*g.Use.MemoryUsed), machine.GiB(g.MemoryBytes), g.Index),
			processFact(g)).
			with(f)
		if !stops {
			found.Severity = know.Note
		}
	}
}

// holders says who holds the memory of a GPU.
func (e *exam) holders(g machine.GPU) string {
	u := g.Use
	var seen []machine.Process
	for _, p := range u.Processes {
		if p.Unseen == "" {
			seen = append(seen, p)
		}
	}
	unseen := e.Machine.UnseenWords(u)
	switch {
	case len(seen) == 0 && unseen != "":
		return unseen
	case u.Processes == nil:
		return fmt.Sprintf("%s are in use, and by whom could not be read (%s)", machine.GiB(*u.MemoryUsed),
			u.Unread["processes"])
	case len(seen) == 0:
		return fmt.Sprintf("%s are in use, and no process is listed", machine.GiB(*u.MemoryUsed))
	}
	text := processWords(seen[0])
	if n := len(u.Processes) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text
}

// processWords names a process and what it holds.
func processWords(p machine.Process) string {
	who := fmt.Sprintf("PID %d", p.PID)
	if p.User != "" {
		who += " of " + p.User
	}
	text := fmt.Sprintf("%s (%s)", p.Command, who)
	if p.Memory != nil {
		text += " holds " + machine.GiB(*p.Memory)
	}
	return text
}

func processFact(g machine.GPU) read.Evidence {
	for _, p := range g.Use.Processes {
		if p.Unseen == "" {
			return fact("%s", processWords(p))
		}
	}
	return read.Evidence{}
}

// makeRoom says what to do about a GPU that others use.
func (e *exam) makeRoom(g machine.GPU) []string {
	var fix []string
	order := ""
	if e.mixed() {
		order = "CUDA_DEVICE_ORDER=PCI_BUS_ID "
	}
	for n, o := range e.visibleNVIDIA() {
		if o.Index != g.Index && o.Use != nil && o.Use.MemoryUsed != nil && o.MemoryBytes > 0 &&
			*o.Use.MemoryUsed < o.MemoryBytes/2 && o.Use.ComputeMode != "prohibited" {
			fix = append(fix,
				fmt.Sprintf("`export %sCUDA_VISIBLE_DEVICES=%d` uses %s, which is free", order, n, gpuName(o)))
			break
		}
	}
	for _, p := range g.Use.Processes {
		if p.Unseen == "" && p.Kind != "graphics" {
			return append(fix, fmt.Sprintf("wait for it, or end it: `kill %d`", p.PID))
		}
	}
	if e.Machine.Platform.Environment == machine.Container {
		return append(fix, "`nvidia-smi` on the host shows who holds it")
	}
	return append(fix, "`nvidia-smi` and `sudo fuser -v /dev/nvidia*` show who holds it; end that process")
}

// orphaned: much more is in use than the listed processes hold. It is what a
// process leaves that hangs while it ends, or one that this list does not show. In
// a container the list shows too little by design.
func (e *exam) orphaned() {
	if e.Machine.Platform.Environment == machine.Container || e.Machine.Platform.Environment == machine.WSL2 {
		return
	}
	for _, g := range e.used() {
		u := g.Use
		if u.Processes == nil || u.MemoryUsed == nil || g.MemoryBytes == 0 || g.Integrated || isFull(g) &&
			len(u.Processes) > 0 {
			continue
		}
		held := int64(0)
		for _, p := range u.Processes {
			if p.Memory == nil || p.Unseen == machine.UnseenNamespace {
				held = -1
				break
			}
			held += *p.Memory
		}
		if free := *u.MemoryUsed - held; held >= 0 && free >= 2<<30 && free >= g.MemoryBytes/4 {
			e.find("ACC010", strong,
				fact("%s of %s in use on GPU %d", machine.GiB(*u.MemoryUsed), machine.GiB(g.MemoryBytes), g.Index)).
				says("%s of %s are in use by no process that the driver lists", machine.GiB(free), gpuName(g)).
				fix(
					"`sudo fuser -v /dev/nvidia*` shows processes that still have it open; end them",
					"else, when nothing runs there: `sudo nvidia-smi --gpu-reset -i "+strconv.Itoa(g.Index)+"`",
				)
		}
	}
}

// computeMode: a GPU that admits one process and has one, or none at all. MPS is
// one process that serves many.
func (e *exam) computeMode() {
	for _, g := range e.used() {
		index := strconv.Itoa(g.Index)
		reset := "`sudo nvidia-smi -i " + index + " -c DEFAULT` lets several in"
		switch g.Use.ComputeMode {
		case "prohibited":
			e.find("ACC005", proven, fact("GPU %s: compute mode prohibited", index)).
				text(gpuName(g) + " is set to compute mode prohibited: no program may use it").
				fix("`sudo nvidia-smi -i " + index + " -c DEFAULT`")
		case "exclusive_process", "exclusive_thread":
			mode := strings.ReplaceAll(g.Use.ComputeMode, "_", " ")
			said := fact("GPU %s: compute mode %s", index, mode)
			if !e.taken(g) {
				continue
			}
			i := slices.IndexFunc(g.Use.Processes, isCompute)
			who := "a process that cannot be seen from here"
			if i >= 0 && g.Use.Processes[i].Unseen == "" {
				who = processWords(g.Use.Processes[i])
			}
			fix := append(e.makeRoom(g), reset)
			f := e.find("ACC004", likely+5, said).
				says("%s admits one process at a time (%s), and has it: %s", gpuName(g), mode, who).
				fix(fix...)
			if !e.stops(g, e.taken) {
				f.Severity, f.weight, f.Confidence = know.Note, trifle, Low
			}
		}
	}
}

func isCompute(p machine.Process) bool { return p.Kind == "compute" }

// taken reports whether an exclusive GPU has its one process. A container's list of
// processes may be empty by design; then the memory tells.
func (e *exam) taken(g machine.GPU) bool {
	u := g.Use
	if u == nil || !strings.HasPrefix(u.ComputeMode, "exclusive") {
		return false
	}
	if len(u.Processes) == 0 {
		return e.Machine.Platform.Environment == machine.Container && u.MemoryUsed != nil && *u.MemoryUsed >= 1<<30
	}
	return slices.ContainsFunc(u.Processes, isCompute) &&
		!slices.ContainsFunc(u.Processes,
			func(p machine.Process) bool { return strings.HasPrefix(p.Name, "nvidia-cuda-mps") })
}

// noInstances: MIG is on and nothing was made of it. Where another GPU can be
// used, that is no standstill.
func (e *exam) noInstances() {
	if e.Pasted {
		return
	}
	for _, g := range e.Machine.GPUs {
		if !g.MIGMode {
			continue
		}
		index := strconv.Itoa(g.Index)
		f := e.find("ACC006", proven, fact("GPU %s: MIG mode on, no instances", index)).
			text(gpuName(g)+" is in MIG mode and has no instance: no program can use it").
			fix(
				"`sudo nvidia-smi mig -i "+index+" -lgip` lists what it can be divided into, `sudo nvidia-smi mig -i "+index+" -cgi 0 -C` makes one instance of all of it",
				"or `sudo nvidia-smi -i "+index+" -mig 0` ends the mode",
			)
		if len(e.visibleNVIDIA()) > 0 {
			f.Severity = know.Warning
		}
	}
}

// unreachable: NVML knows of a GPU and gets no answer.
func (e *exam) unreachable() {
	for _, g := range e.Machine.GPUs {
		said := fact("GPU at %s: NVML %s", g.PCIAddress, strings.ReplaceAll(g.Fault, "_", " "))
		switch g.Fault {
		case machine.FaultLost:
			e.find("HW002", proven, said).
				text("the " + nameOr(g) + " at " + g.PCIAddress + " has fallen off the bus")
		case machine.FaultReset:
			e.find("HW009", proven, said).
				text("the " + nameOr(g) + " at " + g.PCIAddress + " must be reset before it can be used")
		case machine.FaultUnknown:
			e.find("DRV014", likely, said).text("the driver does not reach the " + nameOr(g) + " at " + g.PCIAddress)
		}
	}
}

// memoryErrors: what ECC counted since the driver was loaded, and what waits for a
// reset. What lies further back was mended, or it would be counted again.
func (e *exam) memoryErrors() {
	weight := likely + 5
	if e.Pasted {
		weight = strong // of when, nobody knows
	}
	for _, g := range e.used() {
		u, index := g.Use, strconv.Itoa(g.Index)
		reset := []string{"when nothing runs there: `sudo nvidia-smi --gpu-reset -i " + index + "`, else reboot"}
		if ecc := u.ECC; ecc != nil {
			switch {
			case ecc.Volatile != nil && *ecc.Volatile > 0:
				e.find("HW003", weight, fact("GPU %s: volatile uncorrected ECC errors %d", index, *ecc.Volatile)).
					says("%s had %d uncorrectable memory errors since the driver was loaded", gpuName(g),
						*ecc.Volatile).
					fix(append(reset,
						"if they come again: the vendor; `nvidia-smi -q -d ECC,ROW_REMAPPER` is what they ask for")...)
			case ecc.Aggregate != nil && *ecc.Aggregate > 0:
				e.find("HW003", trifle, fact("GPU %s: aggregate uncorrected ECC errors %d", index, *ecc.Aggregate)).
					says("%s had %d uncorrectable memory errors in its life, none since the driver was loaded",
						gpuName(g), *ecc.Aggregate).
					fix("nothing, unless more come").
					severity(know.Note)
			}
		}
		switch r := u.Remapped; {
		case r != nil && r.Failed:
			e.find("HW004", likely+5, fact("GPU %s: remapping failed", index)).
				text(gpuName(g) + " could not exchange a bad row of its memory: it has to be replaced").
				fix("the vendor (RMA)")
		case r != nil && r.Pending, u.Retiring != nil && *u.Retiring:
			e.find("HW004", likely, fact("GPU %s: a row or page of memory is pending", index)).
				text("a bad part of the memory of " + gpuName(g) + " will be exchanged when it is reset").
				fix(reset...)
		}
	}
}
