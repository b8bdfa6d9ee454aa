package use

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/xslices"
)

// used are NVIDIA's GPUs of which it is known what they do.
func used(e *evidence.Evidence) []machine.GPU {
	return xslices.Filter(e.Machine.GPUs, func(g machine.GPU) bool { return g.Vendor == machine.NVIDIA && g.Use != nil })
}

// defaultGPU is the GPU that a program gets that asks for none: cuda:0. -1: not known.
func defaultGPU(e *evidence.Evidence) int {
	if gpus, sure := e.GPU().Chosen(); sure && len(gpus) > 0 {
		return gpus[0].Index
	}
	return -1
}

// stops reports whether a GPU that cannot be had stops a program that asks for
// none: it is the one that the program gets, or all are so.
func stops(e *evidence.Evidence, g machine.GPU, blocked func(machine.GPU) bool) bool {
	if def := defaultGPU(e); def >= 0 {
		return def == g.Index
	}
	return !slices.ContainsFunc(e.GPU().Visible(), func(o machine.GPU) bool { return !blocked(o) })
}

// isFull: nine tenths of the memory are in use. A CUDA context alone takes a few
// hundred MiB, and a program that was not made for it fails soon after.
func isFull(g machine.GPU) bool {
	return g.Use != nil && g.Use.MemoryUsed != nil && g.MemoryBytes > 0 && !g.Integrated &&
		*g.Use.MemoryUsed >= g.MemoryBytes/10*9
}

// full: the GPU that a program would get has no memory left. A full GPU beside it
// is somebody's job, and no fault.
func full(e *evidence.Evidence, out *evidence.Findings) {
	for _, g := range used(e) {
		if !g.Visible || !isFull(g) {
			continue
		}
		check, weight := "ACC010", evidence.Likely.Exact()
		if n := len(g.Use.Processes); n > 0 &&
			!slices.ContainsFunc(g.Use.Processes, func(p machine.Process) bool { return p.Kind != "graphics" }) {
			check = "PERF016"
		}
		stops := stops(e, g, isFull)
		if !stops {
			weight = evidence.Trifle
		}
		found := out.Find(check, weight,
			evidence.Fact("%s of %s in use on GPU %d", machine.GiB(*g.Use.MemoryUsed), machine.GiB(g.MemoryBytes), g.Index),
			processFact(g)).
			Say(evidence.GPUName(g) + " is full: " + holders(e, g)).
			Do(append(makeRoom(e, g), "a smaller batch or model needs less")...)
		if !stops {
			found.As(evidence.Note)
		}
	}
}

// holders says who holds the memory of a GPU.
func holders(e *evidence.Evidence, g machine.GPU) string {
	u := g.Use
	seen := xslices.Filter(u.Processes, func(p machine.Process) bool { return p.Unseen == "" })
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
	who := fmt.Sprintf("PID %d", p.PID) + say.With(" of ", p.User, "")
	text := fmt.Sprintf("%s (%s)", p.Command, who)
	if p.Memory != nil {
		text += " holds " + machine.GiB(*p.Memory)
	}
	return text
}

func processFact(g machine.GPU) (said evidence.Quote) {
	if p, ok := xslices.Find(g.Use.Processes, func(p machine.Process) bool { return p.Unseen == "" }); ok {
		said = evidence.Fact("%s", processWords(p))
	}
	return said
}

// makeRoom says what to do about a GPU that others use.
func makeRoom(e *evidence.Evidence, g machine.GPU) []string {
	var fix []string
	order := say.If(e.GPU().Mixed(), "CUDA_DEVICE_ORDER=PCI_BUS_ID ")
	for n, o := range e.GPU().Visible() {
		if o.Index != g.Index && o.Use != nil && o.Use.MemoryUsed != nil && o.MemoryBytes > 0 &&
			*o.Use.MemoryUsed < o.MemoryBytes/2 && o.Use.ComputeMode != "prohibited" {
			fix = append(fix,
				fmt.Sprintf("`export %sCUDA_VISIBLE_DEVICES=%d` uses %s, which is free", order, n, evidence.GPUName(o)))
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
func orphaned(e *evidence.Evidence, out *evidence.Findings) {
	if slices.Contains([]string{machine.Container, machine.WSL2}, e.Machine.Platform.Environment) {
		return
	}
	for _, g := range used(e) {
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
			out.Find("ACC010", evidence.Strong,
				evidence.Fact("%s of %s in use on GPU %d", machine.GiB(*u.MemoryUsed), machine.GiB(g.MemoryBytes), g.Index)).
				Says("%s of %s are in use by no process that the driver lists", machine.GiB(free), evidence.GPUName(g)).
				Do(
					"`sudo fuser -v /dev/nvidia*` shows processes that still have it open; end them",
					"else, when nothing runs there: `sudo nvidia-smi --gpu-reset -i "+strconv.Itoa(g.Index)+"`",
				)
		}
	}
}

// computeMode: a GPU that admits one process and has one. MPS is one process that serves many.
func computeMode(e *evidence.Evidence, out *evidence.Findings) {
	for _, g := range used(e) {
		if !taken(e, g) {
			continue
		}
		who, mode := "a process that cannot be seen from here", strings.ReplaceAll(g.Use.ComputeMode, "_", " ")
		if p, found := xslices.Find(g.Use.Processes, isCompute); found && p.Unseen == "" {
			who = processWords(p)
		}
		f := out.Find("ACC004", evidence.Likely.Exact(), evidence.Fact("GPU %d: compute mode %s", g.Index, mode)).
			Says("%s admits one process at a time (%s), and has it: %s", evidence.GPUName(g), mode, who).
			Do(append(makeRoom(e, g), fmt.Sprintf("`sudo nvidia-smi -i %d -c DEFAULT` lets several in", g.Index))...)
		if !stops(e, g, func(o machine.GPU) bool { return taken(e, o) }) {
			f.As(evidence.Note).Proof, f.Confidence = evidence.Trifle, evidence.Low
		}
	}
}

func isCompute(p machine.Process) bool { return p.Kind == "compute" }

// taken reports whether an exclusive GPU has its one process. A container's list of
// processes may be empty by design; then the memory tells.
func taken(e *evidence.Evidence, g machine.GPU) bool {
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
