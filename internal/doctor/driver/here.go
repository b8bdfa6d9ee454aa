package driver

import (
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
)

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
		if host, way := e.Machine.Lent(); host != "" && len(e.Machine.GPUs) == 0 {
			f.Do(append(slices.Clone(f.Fix), "this "+host+" has no GPU: "+way)...)
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
