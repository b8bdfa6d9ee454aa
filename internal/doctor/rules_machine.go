package doctor

import (
	"fmt"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/resolver"
)

// machineRules look at facts that only a machine itself tells.
var machineRules = []rule{
	{[]string{"DRV001", "CTR001", "CTR014"}, "a GPU on the bus that no driver serves", (*exam).unserved},
	{[]string{"DRV001"}, "a driver whose kernel module is not loaded", (*exam).notLoaded},
	{[]string{"PY002"}, "a GPU and no torch", (*exam).noTorch},
}

// unserved: the bus shows a GPU, and no driver answers for it. Where that is to
// be mended depends on where this is.
func (e *exam) unserved() {
	if e.Pasted || e.Machine.Driver != nil {
		return
	}
	g := e.firstGPU(machine.NVIDIA)
	if g == nil || g.Visible || e.Machine.Platform.Environment == machine.Jetson || g.KernelDriver == "nouveau" ||
		g.KernelDriver == "vfio-pci" {
		return
	}
	said := read.Evidence{Text: fmt.Sprintf("GPU %s (%s)", g.Name, g.PCIID)}
	switch e.Machine.Platform.Environment {
	case machine.Container:
		e.find("CTR001", proven, said).
			text("the " + g.Name + " is on the bus, and this container was started without access to it")
	case machine.WSL2:
		e.find("CTR014", proven, said)
	case machine.ContainerBuild, machine.HPCLogin:
	default:
		e.find("DRV001", proven, said).
			text("no NVIDIA driver is installed for the " + g.Name).
			fix("`envfix plan --change-driver` names the driver and its steps")
	}
}

// notLoaded: the driver is installed and its kernel module is not loaded.
func (e *exam) notLoaded() {
	if d := e.Machine.Driver; d != nil && d.NotLoaded {
		e.find("DRV001", proven, e.From.Driver).
			says("driver %s is installed, and its kernel module is not loaded", d.Version).
			fix(
				"`sudo modprobe nvidia`; where that fails, `dkms status` and `mokutil --sb-state`",
				"`envfix plan --change-driver` names the steps",
			)
	}
}

// noTorch: nothing is wrong yet; nothing is there either.
func (e *exam) noTorch() {
	if !e.Pasted && e.Torch.Version == "" && len(e.Machine.GPUs) > 0 &&
		e.Machine.Platform.Environment != machine.ContainerBuild {
		f := e.find("PY002", trifle).
			says("no torch in this environment").
			fix("`envfix apply` installs the one that fits",
				"where another environment has it: `envfix doctor --all` lists them all; activate that one, or name it with `--env`").
			severity(know.Note)
		switch d := e.decision(); d {
		case "", resolver.Install, resolver.InstallCPU:
		case resolver.NoSolution:
			f.says("no torch in this environment, and PyTorch has no build for this machine").
				fix("`envfix plan` says why, and what would help").
				severity(know.Warning)
		default:
			f.fix("`envfix plan` shows what comes first on this machine")
		}
	}
}

// decision is what the resolver says of this machine as it is; "" where it cannot say.
func (e *exam) decision() resolver.Decision { return e.asItIs().Decision }

// chosenBuild is the build of torch that the resolver chooses for this machine as it is; ""
// none, or it cannot say.
func (e *exam) chosenBuild() string {
	if c := e.asItIs().Choice; c != nil {
		return c.Build
	}
	return ""
}

func (e *exam) asItIs() *resolver.Resolution {
	return e.resolve(e.Machine, resolver.Request{})
}
