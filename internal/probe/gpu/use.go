package gpu

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/nvmlchild"
	"envfix/internal/probe/sysroot"
	"envfix/internal/proc"
	"envfix/internal/text"
)

// computeModes are NVML's, by number (nvml.h, nvmlComputeMode_t).
var computeModes = []string{"default", "exclusive_thread", "prohibited", "exclusive_process"}

// throttles are the bits of nvmlClocksEventReasons that slow a GPU (nvml.h).
var throttles = []struct {
	bit  uint64
	name string
}{
	{0x4, machine.ThrottlePowerCap}, {0x8, machine.ThrottleHWSlowdown}, {0x20, machine.ThrottleHeat},
	{0x40, machine.ThrottleHWHeat}, {0x80, machine.ThrottlePowerBrake},
}

// gpuUse turns what the child said into facts. whole is the GPU that a slice is
// part of, whose setting and health are the slice's too; nil: u is a whole GPU.
func gpuUse(h *sysroot.Host, u, whole *nvmlchild.Use) *machine.GPUUse {
	if u == nil {
		return nil
	}
	out := &machine.GPUUse{MemoryUsed: amount(u.Used), Unread: map[string]string{}}
	if u.Listed {
		out.Processes = processes(h, u.Processes)
	}
	s := cmp.Or(whole, u)
	if s.Mode != nil && *s.Mode >= 0 && *s.Mode < len(computeModes) {
		out.ComputeMode = computeModes[*s.Mode]
	}
	out.Persistence, out.Display, out.Retiring = s.Persistence, s.Display, s.Retiring
	if s.ECC != nil {
		out.ECC = &machine.ECC{Enabled: *s.ECC, Volatile: amount(s.Volatile), Aggregate: amount(s.Aggregate)}
	}
	out.Remapped = (*machine.Remapped)(s.Remapped)
	if s.Reasons != nil {
		out.Throttle = []string{}
		for _, t := range throttles {
			if *s.Reasons&t.bit != 0 {
				out.Throttle = append(out.Throttle, t.name)
			}
		}
	}
	out.Utilization, out.Temperature, out.Clock, out.MaxClock = s.Busy, s.Temperature, s.Clock, s.MaxClock
	out.PowerLimit, out.PowerNormal = watts(s.Limit), watts(s.Normal)
	for _, p := range u.NoPeers {
		out.NoPeers = append(out.NoPeers, machine.NoPeer{Index: p.Index, Why: peerWords[p.Status]})
	}
	for _, part := range []*nvmlchild.Use{s, u} {
		for fact, code := range part.Failed {
			out.Unread[fact] = whyUnread(code)
		}
	}
	return out
}

// peerWords are NVML's reasons (nvml.h, nvmlGpuP2PStatus_t).
var peerWords = map[int]string{
	1: "the chipset does not do it", 2: "the GPU does not do it", 3: "they hang on different processors",
	4: "it is switched off in the driver's settings", 5: "the driver does not offer it", 6: "unknown",
}

func watts(milliwatts *int) *int {
	if milliwatts == nil {
		return nil
	}
	return new(*milliwatts / 1000)
}

// amount drops what cannot be: NVML writes all ones for "not available".
func amount(n *uint64) *int64 {
	if n == nil || *n > 1<<50 {
		return nil
	}
	return new(int64(*n))
}

// whyUnread puts NVML's return code into words.
func whyUnread(code int) string {
	switch code {
	case nvmlchild.Absent, 13: // NVML_ERROR_FUNCTION_NOT_FOUND
		return "this driver's library does not tell"
	case 3: // NVML_ERROR_NOT_SUPPORTED
		return "this GPU does not tell"
	case nvmlchild.NoPermission:
		return "no permission"
	}
	return fmt.Sprintf("NVML error %d", code)
}

// processes names who holds the memory of a GPU, the largest first. One process
// may stand in both of NVML's lists, with the same memory.
func processes(h *sysroot.Host, list []nvmlchild.Process) []machine.Process {
	out := []machine.Process{}
	host := h.Procs().HostPIDs()
	for _, p := range list {
		if i := slices.IndexFunc(out, func(o machine.Process) bool { return o.PID == int(p.PID) && p.PID != 0 }); i >= 0 {
			if out[i].Memory == nil {
				out[i].Memory = amount(p.Memory)
			}
			continue
		}
		one := machine.Process{PID: int(p.PID), Kind: p.Kind, Memory: amount(p.Memory)}
		identify(h, &one, host)
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b machine.Process) int {
		size := func(p machine.Process) int64 {
			if p.Memory == nil {
				return 0
			}
			return *p.Memory
		}
		return cmp.Compare(size(b), size(a))
	})
	return out
}

// identify finds a process in /proc. Where PIDs are not the machine's, one that is
// there counts only if it has the GPU open: the same number may be another's.
func identify(h *sysroot.Host, p *machine.Process, host bool) {
	of := h.Procs().Of(p.PID)
	name := of.Name()
	switch {
	case host && name == "":
		p.Unseen = machine.UnseenGone
		return
	case !host && (name == "" || !opened(of, "/dev/nvidia")):
		p.Unseen = machine.UnseenNamespace
		return
	}
	p.Name = text.Printable(name)
	p.User = h.Procs().UserOf(of)
	if p.Command = proc.Command(of.Args()); p.Command == "" {
		p.Command = p.Name
	}
}

// opened reports whether a process has a file open whose path begins so. The
// files of other users' processes cannot be seen.
func opened(p proc.Process, prefix string) bool {
	for path := range p.Files() {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}
