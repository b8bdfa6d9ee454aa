// Package devices is the room of what lies between the driver and a GPU: what the kernel says
// of one that the driver does not list.
package devices

import (
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
)

// unlistedGPU: it is on the bus, the kernel module is loaded, and the driver does not list it.
func unlistedGPU(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	d := e.Machine.Driver
	if e.Pasted || d == nil || d.NotLoaded || d.Evidence == machine.FromProc {
		return // nobody was asked who lists them
	}
	switch e.Machine.Platform.Environment {
	case machine.Container, machine.ContainerBuild, machine.WSL2, machine.Jetson:
		return // it may not be meant to be here
	}
	others := len(e.GPU().Visible())
	for _, g := range e.Machine.GPUs {
		if !lost(g) || told(found) {
			continue
		}
		if job := e.Machine.Env["SLURM_JOB_ID"]; job != "" && others == 0 {
			out.Find("ACC011", evidence.Proven, e.From.Env["SLURM_JOB_ID"],
				evidence.Fact("%s is on the PCI bus at %s; NVML lists none", evidence.NameOf(g), g.PCIAddress)).
				Says("Slurm's job %s sees none of this node's GPUs, such as the %s: it asked for none, and Slurm closes them to it", job, evidence.NameOf(g))
			return
		}
		f := out.Find("DRV013", evidence.Likely, evidence.Fact("%s is on the PCI bus at %s; NVML lists %d GPUs", evidence.NameOf(g), g.PCIAddress, others)).
			Says("the driver %s is loaded and does not list the %s at %s: the GPU did not start, or was lost", d.Version, evidence.NameOf(g), g.PCIAddress).
			Do("`sudo dmesg | grep -iE 'NVRM|Xid'` shows why (RmInitAdapter, Xid 79, a GPU that this driver does not serve)",
				"switch the machine off fully and on again; if it comes back: reseat the card and its power, then the vendor").
			Explaining("GPU001", "DRV016")
		switch {
		case e.GPU().Spare(g):
			f.As(evidence.Note) // another carries the work, and nobody asked for this one
		case others > 0:
			f.As(evidence.Warning)
		}
	}
}

// lost reports whether a GPU that the driver should drive is not to be seen through it, and
// nothing says why.
func lost(g machine.GPU) bool {
	return g.Vendor == machine.NVIDIA && !g.Visible && !g.MIGMode && g.Fault == "" && g.Evidence != machine.FromFlag &&
		(g.KernelDriver == "" || g.KernelDriver == "nvidia")
}

// told reports whether a finding names the GPU's own fault, or the driver's, already.
func told(found evidence.Found) bool {
	return found.Any(func(f *evidence.Finding) bool {
		return slices.Contains([]string{"HW013", "HW014", "HW022"}, f.Check) || f.Severity == evidence.Error && (strings.HasPrefix(f.Check, "HW") || strings.HasPrefix(f.Check, "KMD") ||
			slices.Contains([]string{"DRV001", "DRV004", "DRV014", "DRV015", "ACC008", "GPU002"}, f.Check))
	})
}
