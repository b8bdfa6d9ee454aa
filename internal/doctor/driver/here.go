package driver

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
)

// unserved: the bus shows a GPU, and no driver answers for it. Where that is to
// be mended depends on where this is.
func unserved(e *evidence.Evidence, out *evidence.Findings) {
	if e.Pasted || e.Machine.Driver != nil {
		return
	}
	g := e.GPU().First(machine.NVIDIA)
	if g == nil || g.Visible || e.Machine.Platform.Environment == machine.Jetson || g.KernelDriver == "nouveau" ||
		g.KernelDriver == "vfio-pci" {
		return
	}
	said := evidence.Quote{Text: fmt.Sprintf("GPU %s (%s)", g.Name, g.PCIID)}
	switch e.Machine.Platform.Environment {
	case machine.Container:
		f := out.Find("CTR001", evidence.Proven, said).
			Say("the " + g.Name + " is on the bus, and this container was started without access to it")
		if host, way := e.Machine.Lent(); host != "" {
			f.Says("the %s is on the bus, and this %s was started without access to it", g.Name, host).Do(way)
		}
	case machine.WSL2:
		out.Find("CTR014", evidence.Proven, said)
	case machine.ContainerBuild, machine.HPCLogin:
	default:
		out.Find("DRV001", evidence.Proven, said).
			Say("no NVIDIA driver is installed for the " + g.Name).
			Do("`envfix plan --change-driver` names the driver and its steps")
	}
}

// notLoaded: the driver is installed and its kernel module is not loaded.
func notLoaded(e *evidence.Evidence, out *evidence.Findings) {
	if d := e.Machine.Driver; d != nil && d.NotLoaded {
		f := out.Find("DRV001", evidence.Proven, e.From.Driver).
			Says("driver %s is installed, and its kernel module is not loaded", d.Version).
			Do(
				"`sudo modprobe nvidia`; where that fails, `dkms status` and `mokutil --sb-state`",
				"`envfix plan --change-driver` names the steps",
			)
		for _, note := range e.Machine.Notes {
			if _, kernel, unbuilt := strings.Cut(note, machine.NotBuiltFor); unbuilt {
				f.Says("driver %s is installed, and its kernel module was not built for the kernel that runs, %s", d.Version, kernel).
					Do("`sudo apt install linux-headers-"+kernel+" && sudo dkms autoinstall && sudo modprobe nvidia`; on Fedora and Red Hat's: "+
						"`sudo dnf install kernel-devel-"+kernel+"`, then `sudo dkms autoinstall` or `sudo akmods --force`",
						"where that does not build: /var/lib/dkms/nvidia/*/build/make.log says why; an older kernel of the boot menu has it")
			}
			if file, line, barred := strings.Cut(note, machine.BarredBy); barred {
				f.Says("driver %s is installed, and its kernel module is not loaded: %s keeps it out (%s)", d.Version, file, line).
					Do("`sudo sed -i '/nvidia/s/^/#/' "+file+"`, then `sudo update-initramfs -u` (`sudo dracut -f` on Red Hat's) and `sudo modprobe nvidia`",
						"a laptop that was switched to its other GPU: `sudo prime-select nvidia`, then reboot")
			}
		}
	}
}

// noTorch: nothing works where nothing is, as `envfix` alone says too; of a description it
// is a note, whose environment is not here to be looked at.
func noTorch(e *evidence.Evidence, out *evidence.Findings) {
	if !e.Pasted && e.Torch.Version == "" && (len(e.Machine.GPUs) > 0 || e.Around != nil) &&
		e.Machine.Platform.Environment != machine.ContainerBuild {
		f := out.Find("PY002", evidence.Weak).
			Says("no torch in this environment").
			Do("`envfix apply` installs the one that fits",
				"where another environment has it: `envfix doctor --all` lists them all; activate that one, or name it with `--env`")
		switch d := e.Fit.Here().Decision; d {
		case "", "install", "install_cpu":
		case "no_solution":
			f.Says("no torch in this environment, and PyTorch has no build for this machine").
				Do("`envfix plan` says why, and what would help")
		default:
			f.Do("`envfix plan` shows what comes first on this machine")
		}
		if e.Machine.Platform.Environment == machine.HPCLogin && len(e.Machine.GPUs) == 0 {
			f.Says("no torch in this environment, and this is a cluster's login node: the GPUs are in other nodes").
				Do(e.Machine.InJob("envfix doctor")+" looks there", "a plan for them is made here, too: `envfix plan --gpu A100 --driver 550.54.15`")
		}
		if e.Machine.Env["PYTHONNOUSERSITE"] != "" {
			f.Do(append([]string{"`unset PYTHONNOUSERSITE`, if torch is in ~/.local: with that variable Python leaves those packages out"}, f.Fix...)...)
		}
		var notes []string
		if e.Files != nil {
			notes = e.Files.Notes
		}
		for _, note := range notes {
			if to, leads := strings.CutPrefix(note, machine.PackagesAt); leads {
				f.Says("no torch in this environment: its packages are a link to %s, which is not there", to).
					Do("bring "+to+" back (a disk that is not mounted? `findmnt`, `sudo mount -a`)", "or `envfix apply` makes the environment anew")
			}
		}
		if e.Around == nil {
			f.As(evidence.Note).Says("whether torch is there, nobody looked").Do("on that machine: `envfix doctor`, or `envfix apply`, which installs the one that fits")
		}
	}
}

// noNVML: the kernel module is at work, and the library that tells of it is not here.
func noNVML(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	d := e.Machine.Driver
	if e.Pasted || d == nil || d.NotLoaded || d.Evidence != machine.FromProc || len(found.Of("DRV002")) > 0 ||
		!slices.Contains(e.Machine.Notes, "nvml: library not found") {
		return
	}
	v := d.Version
	out.Find("DRV003", evidence.Likely, e.From.Driver).As(evidence.Warning).
		Says("the driver's library libnvidia-ml.so.1 is not here, and its kernel module %s is at work: "+
			"CUDA may compute, and nvidia-smi and what asks for the GPU's memory (vLLM, nvitop) do not", v).
		Do(fmt.Sprintf("the driver's packages in version %s: `sudo apt install --reinstall libnvidia-compute-%d nvidia-utils-%d` on Ubuntu, "+
			"then `sudo ldconfig`", v, v.Major(), v.Major()),
			"in a container: `-e NVIDIA_DRIVER_CAPABILITIES=compute,utility`")
}
