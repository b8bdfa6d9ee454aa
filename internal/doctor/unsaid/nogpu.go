package unsaid

import (
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
)

// noGPUHere: a torch for CUDA, and no GPU was found for it, nor what would hide one. In a
// container whether the host has one cannot be seen; elsewhere it is no fault, and answers
// what was asked.
func noGPUHere(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	if e.Pasted || e.Torch.Version == "" || e.Machine.Driver != nil || e.GPU().Of(machine.NVIDIA) ||
		found.Any(func(f *evidence.Finding) bool { return f.Severity == evidence.Error }) {
		return
	}
	host, way := e.Machine.Lent()
	where := e.Machine.Platform.Environment
	switch {
	case len(e.Machine.GPUs) == 0 && withoutAny(e, out, host, way):
	case e.Torch.CUDA.IsZero() || e.Torch.NoCUDA:
	case where == machine.ContainerBuild:
		out.Find("GPU004", evidence.Strong, e.Torch.VersionAt).
			Say("this is the build of an image, which sees no GPU: the container that is started from it may").
			Do("`docker run --gpus all IMAGE envfix doctor` looks there")
	case where == machine.Container || where == machine.Jetson || e.GPU().Of(machine.Apple):
	default:
		onItsCPU(e, out)
	}
}

// withoutAny is noGPUHere where there is no GPU of any vendor; false where it has nothing
// to say.
func withoutAny(e *evidence.Evidence, out *evidence.Findings, host, way string) bool {
	where := e.Machine.Platform.Environment
	switch {
	case where == machine.HPCLogin:
		onLoginNode(e, out)
	case e.Torch.CUDA.IsZero() || e.Torch.NoCUDA:
	case e.WithoutGPU:
		f := out.Find("GPU004", evidence.Strong, e.Torch.VersionAt).
			Says("no GPU is to be seen here, as when this environment was made: torch %s computes on the CPU", e.Torch.Named())
		if host != "" {
			f.Do("this " + host + ": " + way)
		}
	case host != "":
		out.Find("GPU003", evidence.Strong, e.Torch.VersionAt).
			Says("this %s has no GPU, and the torch in it is built for CUDA", host).Do(way)
	case where == machine.Container:
		out.Find("GPU003", evidence.Strong, e.Torch.VersionAt)
	default:
		return false
	}
	return true
}

// onItsCPU: nothing else explains that there is no GPU.
func onItsCPU(e *evidence.Evidence, out *evidence.Findings) {
	f := out.Find("GPU004", evidence.Strong, e.Torch.VersionAt).
		Says("no NVIDIA GPU was found in this machine: torch %s computes on its CPU", e.Torch.Named())
	if e.Machine.Platform.Environment == machine.WSL2 {
		f.Says("Windows shows no NVIDIA GPU to this WSL: torch %s computes on the CPU", e.Torch.Named()).
			Do("`nvidia-smi.exe` tells whether Windows has one with its driver; then `wsl.exe --shutdown`, and start WSL again")
	}
}

// onLoginNode: the GPUs of a cluster are in other nodes, and torch is used there.
func onLoginNode(e *evidence.Evidence, out *evidence.Findings) {
	f := out.Find("GPU004", evidence.Strong, e.Torch.VersionAt).
		Say("this is a cluster's login node: the GPUs are in other nodes").
		Do(e.Machine.InJob("envfix doctor") + " looks there")
	if e.Torch.NoCUDA && e.Torch.HIP == "" {
		f.Says("this is a cluster's login node, the GPUs are in other nodes, and torch %s, built without CUDA, uses none of them", e.Torch.Named()).
			Do(e.Machine.InJob("envfix plan") + " names the build for them")
	}
}

// unusable: a GPU is here, none can be used, and no rule says why: that is never an
// all-clear for a torch that was built for it. One of AMD's can be used where the kernel's
// compute driver lists it.
func unusable(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	vendor, place := machine.NVIDIA, e.Machine.Platform.Environment
	if e.Torch.HIP != "" {
		vendor = machine.AMD
	}
	g := e.GPU().First(vendor)
	usable := func(g machine.GPU) bool { return g.Vendor == vendor && g.Visible }
	if e.Pasted || e.Torch.CUDA.IsZero() && e.Torch.HIP == "" || g == nil || slices.ContainsFunc(e.Machine.GPUs, usable) ||
		place == machine.ContainerBuild || place == machine.HPCLogin || len(found.Of("DRV003")) > 0 ||
		found.Any(func(f *evidence.Finding) bool {
			packages := vendor == machine.AMD && strings.HasPrefix(f.Check, "PY") // what is wrong with them keeps no driver from its GPU
			return f.Severity == evidence.Error && !packages || f.Severity == evidence.Note && f.Cause != "none"
		}) {
		return
	}
	said := evidence.Fact("%s at %s", evidence.NameOf(*g), g.PCIAddress)
	if vendor == machine.AMD {
		out.Find("ROC002", evidence.Likely, said).
			Says("the kernel's compute driver for AMD GPUs (amdkfd, /dev/kfd) does not list the %s: torch %s cannot use it", evidence.NameOf(*g), e.Torch.Named()).
			Do("`ls -l /dev/kfd`, and `sudo dmesg | grep -iE 'kfd|amdgpu'` says why", "`sudo modprobe amdgpu`; ROCm's own steps: `envfix plan --change-driver`")
		return
	}
	out.Find("GPU001", evidence.Hint, said).
		Says("the %s is here and cannot be used, and nothing that was looked at says why", evidence.NameOf(*g)).
		Do("`nvidia-smi` and `sudo dmesg | grep -iE 'NVRM|Xid'` say more", "`envfix doctor --import` has torch itself say it")
}
