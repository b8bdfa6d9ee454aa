// Package devices is the room of what lies between the driver and a GPU: the device's
// files, and what the kernel says of a GPU that the driver does not list.
package devices

import (
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
)

// deviceNodes: missing, closed and wrong ones are mended in three ways.
func deviceNodes(e *evidence.Evidence, out *evidence.Findings) {
	if e.Pasted || e.Around == nil {
		return
	}
	byState := map[string][]string{}
	amd := false
	for _, n := range e.Around.Nodes {
		byState[n.Is] = append(byState[n.Is], n.Path)
		amd = amd || strings.HasPrefix(n.Path, "/dev/kfd") || strings.HasPrefix(n.Path, "/dev/dri")
	}
	container := e.Machine.Platform.Environment == machine.Container
	over := []string{"GPU002", "DRV013", "DRV001", "DRV014"}
	if list := byState[machine.NodeMissing]; len(list) > 0 {
		f := out.Find("DRV015", evidence.Proven.Exact(), evidence.Fact("not there: %s", strings.Join(list, " "))).Of("device_permissions").Explaining(append(over, "ACC008", "ROC002")...)
		switch {
		case amd && container:
			f.Says("%s is not in this container: it was started without the AMD GPU", list[0]).Do("start it with `--device /dev/kfd --device /dev/dri --group-add video`").Of("container_no_gpu")
		case amd:
			f.Says("%s is not there: the kernel's compute driver for AMD GPUs (amdkfd) is not at work", list[0]).Do("`sudo modprobe amdgpu`, and `sudo dmesg | grep -i kfd` says why not", "ROCm's own steps: `envfix plan --change-driver`").Of("rocm_setup")
		case container:
			f.Says("%s is not in this container, though the driver is", list[0]).Do("start it with `--gpus all`, or with `--device " + list[0] + "`").Of("container_no_gpu")
		default:
			f.Says("the device files %s are not there, though the kernel module is loaded: no program can reach the GPU", strings.Join(list[:min(3, len(list))], ", ")).
				Do("`sudo nvidia-modprobe -u -c=0` makes them", "for good: `sudo systemctl enable --now nvidia-persistenced`, which makes them at each start")
		}
	}
	if list := byState[machine.NodeClosed]; len(list) > 0 {
		f := out.Find("ACC008", evidence.Proven, evidence.Fact("closed to this user: %s", strings.Join(list, " "))).Explaining(over...)
		if amd {
			f.Of("rocm_setup")
		}
		f.Says("this user may not open %s", strings.Join(list[:min(3, len(list))], ", "))
	}
	if list := byState[machine.NodeNoDev]; len(list) > 0 {
		out.Find("ACC008", evidence.Proven.Exact(), evidence.Fact("mounted nodev: %s", strings.Join(list, " "))).Explaining(append(over, "CTR006")...).
			Says("%s lies on a file system that is mounted nodev: nobody may open a device there", list[0]).
			Do("`sudo mount -o remount,dev \"$(findmnt -no TARGET -T " + list[0] + ")\"`; a container: give it the device (`--gpus all`, `--device " + list[0] + "`) in place of a mount")
	}
	if list := byState[machine.NodePlain]; len(list) > 0 {
		f := out.Find("DRV015", evidence.Proven.Exact(), evidence.Fact("no devices: %s", strings.Join(list, " "))).Explaining(append(over, "CTR006", "ACC008")...).
			Says("%s is a file and no device: what goes through it does not reach the driver, and CUDA does not start (unknown error)", list[0]).
			Do("`sudo rm -r " + strings.Join(list, " ") + " && sudo nvidia-modprobe -u -c=0` makes it anew")
		if container {
			f.Do("start the container with `--gpus all` in place of a mount (`-v`) over " + list[0] +
				": where the host has no such device Docker makes a directory").Of("container_no_gpu")
		}
	}
	if list := byState[machine.NodeForeign]; len(list) > 0 {
		out.Find("DRV015", evidence.Proven, evidence.Fact("made for another major number: %s", strings.Join(list, " "))).Explaining(over...).
			Says("%s was made for another driver: its number is not the one that the kernel gives out now", list[0]).
			Do("`sudo rm " + strings.Join(list, " ") + " && sudo nvidia-modprobe -u -c=0` makes it anew")
	}
}

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
