package doctor

import (
	"slices"

	"envfix/internal/doctor/know"
	"envfix/internal/machine"
)

// noGPUHere: a torch for CUDA, and no GPU was found for it, nor what would hide one. In a
// container whether the host has one cannot be seen; elsewhere it is no fault, and answers
// what was asked.
func (e *exam) noGPUHere() {
	if e.Pasted || e.Torch.Version == "" || e.Machine.Driver != nil || e.vendor(machine.NVIDIA) ||
		slices.ContainsFunc(e.out, func(f *finding) bool { return f.Severity == know.Error }) {
		return
	}
	cuda, where := !e.Torch.CUDA.IsZero() && !e.Torch.NoCUDA, e.Machine.Platform.Environment
	switch {
	case where == machine.HPCLogin && len(e.Machine.GPUs) == 0:
		e.onLoginNode()
	case !cuda:
	case where == machine.Container && len(e.Machine.GPUs) == 0:
		e.find("GPU003", strong, e.Torch.VersionAt)
	case where == machine.ContainerBuild:
		e.find("GPU004", strong, e.Torch.VersionAt).
			text("this is the build of an image, which sees no GPU: the container that is started from it may").
			fix("`docker run --gpus all IMAGE envfix doctor` looks there")
	case where == machine.Container || where == machine.Jetson || e.vendor(machine.Apple):
	default:
		f := e.find("GPU004", strong, e.Torch.VersionAt).
			says("no NVIDIA GPU was found in this machine: torch %s computes on its CPU", withLabel(e.Torch))
		if where == machine.WSL2 {
			f.says("Windows shows no NVIDIA GPU to this WSL: torch %s computes on the CPU", withLabel(e.Torch)).
				fix("`nvidia-smi.exe` tells whether Windows has one with its driver; then `wsl.exe --shutdown`, and start WSL again")
		}
	}
}

// onLoginNode: the GPUs of a cluster are in other nodes, and torch is used there.
func (e *exam) onLoginNode() {
	f := e.find("GPU004", strong, e.Torch.VersionAt).
		text("this is a cluster's login node: the GPUs are in other nodes").
		fix(e.Machine.InJob("envfix doctor") + " looks there")
	if e.Torch.NoCUDA && e.Torch.HIP == "" {
		f.says("this is a cluster's login node, the GPUs are in other nodes, and torch %s, built without CUDA, uses none of them", withLabel(e.Torch)).
			fix(e.Machine.InJob("envfix plan") + " names the build for them")
	}
}
