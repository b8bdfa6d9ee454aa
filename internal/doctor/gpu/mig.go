package gpu

import (
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
)

// mig: the messages of a GPU that is divided, or should be.
func mig(e *evidence.Evidence, out *evidence.Findings) {
	divided := e.Clue("mig-anything")
	for _, g := range e.Machine.GPUs {
		divided = divided || strings.Contains(g.Name, "MIG ")
	}
	if !divided {
		return
	}
	if s, ok := e.Has(
		"cuda-ordinal", "torch-no-gpus", "cuda-no-device", "nccl-duplicate-gpu", "nccl-unhandled",
		"nccl-system", "torch-unknown-error",
	); ok {
		out.Find("ACC006", evidence.Likely, s).
			Says("the GPU is in MIG mode: a process sees one instance only, and none where none was made").
			Do(
				"`sudo nvidia-smi mig -cgi 0 -C` makes one instance of the whole GPU (`nvidia-smi mig -lgip` lists the others), `sudo nvidia-smi -mig 0` ends the mode",
				"one process per instance: `CUDA_VISIBLE_DEVICES=MIG-…`",
			)
	}
}

// undivided: the mode is on, and no instance was made: a process sees nothing of the GPU.
// Source: docs.nvidia.com, MIG user guide, "Creating GPU instances".
func undivided(e *evidence.Evidence, out *evidence.Findings) {
	if e.From.Undivided.IsZero() || len(e.Instances) > 0 {
		return
	}
	out.Find("ACC006", evidence.Proven, e.From.Undivided, e.Torch.AvailableAt).
		Say("MIG mode is on and the GPU was not divided: there is no instance that a process could use").
		Do(
			"to use the whole GPU again: `sudo nvidia-smi -mig 0`, while nothing runs on it",
			"to divide it: `sudo nvidia-smi mig -lgip` lists the sizes; `sudo nvidia-smi mig -cgi 0 -C` makes one instance of the whole",
		)
}

// otherInstance: the variable names an instance that is not there. Names of the form
// MIG-GPU-…/1/0 are those of drivers before 470.
func otherInstance(e *evidence.Evidence, out *evidence.Findings) {
	v, _, _ := strings.Cut(e.Machine.Env["CUDA_VISIBLE_DEVICES"], ",")
	if !strings.HasPrefix(v, "MIG-") || len(e.Instances) == 0 || slices.Contains(e.Instances, v) {
		return
	}
	out.Find("ACC006", evidence.Proven, e.From.Env["CUDA_VISIBLE_DEVICES"], e.From.Instances).
		Says("CUDA_VISIBLE_DEVICES names a MIG instance that is not there (%s)", v).
		Do("`export CUDA_VISIBLE_DEVICES=" + e.Instances[0] + "`: as `nvidia-smi -L` names it")
}
