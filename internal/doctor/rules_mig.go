package doctor

import (
	"slices"
	"strings"
)

// migRules look at a GPU that is divided, or should be.
var migRules = []rule{
	{[]string{"ACC006"}, "MIG and a message", (*exam).mig},
	{[]string{"ACC006"}, "MIG mode, and that nothing was divided", (*exam).undivided},
	{[]string{"ACC006"}, "the instance that CUDA_VISIBLE_DEVICES names, and those that are listed", (*exam).otherInstance},
}

// mig: the messages of a GPU that is divided, or should be.
func (e *exam) mig() {
	divided := e.clue("mig-anything")
	for _, g := range e.Machine.GPUs {
		divided = divided || strings.Contains(g.Name, "MIG ")
	}
	if !divided {
		return
	}
	if s, ok := e.has(
		"cuda-ordinal", "torch-no-gpus", "cuda-no-device", "nccl-duplicate-gpu", "nccl-unhandled",
		"nccl-system", "torch-unknown-error",
	); ok {
		e.find("ACC006", likely, s).
			says("the GPU is in MIG mode: a process sees one instance only, and none where none was made").
			fix(
				"`sudo nvidia-smi mig -cgi 0 -C` makes one instance of the whole GPU (`nvidia-smi mig -lgip` lists the others), `sudo nvidia-smi -mig 0` ends the mode",
				"one process per instance: `CUDA_VISIBLE_DEVICES=MIG-…`",
			)
	}
}

// undivided: the mode is on, and no instance was made: a process sees nothing of the GPU.
// Source: docs.nvidia.com, MIG user guide, "Creating GPU instances".
func (e *exam) undivided() {
	if e.From.Undivided.IsZero() || len(e.Instances) > 0 {
		return
	}
	e.find("ACC006", proven, e.From.Undivided, e.Torch.AvailableAt).
		text("MIG mode is on and the GPU was not divided: there is no instance that a process could use").
		fix(
			"to use the whole GPU again: `sudo nvidia-smi -mig 0`, while nothing runs on it",
			"to divide it: `sudo nvidia-smi mig -lgip` lists the sizes; `sudo nvidia-smi mig -cgi 0 -C` makes one instance of the whole",
		).
		explains("ACC001", "GPU001")
}

// otherInstance: the variable names an instance that is not there. Names of the form
// MIG-GPU-…/1/0 are those of drivers before 470.
func (e *exam) otherInstance() {
	v, _, _ := strings.Cut(e.Machine.Env["CUDA_VISIBLE_DEVICES"], ",")
	if !strings.HasPrefix(v, "MIG-") || len(e.Instances) == 0 || slices.Contains(e.Instances, v) {
		return
	}
	e.find("ACC006", proven, e.From.Env["CUDA_VISIBLE_DEVICES"], e.From.Instances).
		says("CUDA_VISIBLE_DEVICES names a MIG instance that is not there (%s)", v).
		fix("`export CUDA_VISIBLE_DEVICES="+e.Instances[0]+"`: as `nvidia-smi -L` names it").
		explains("ACC001", "GPU001")
}
