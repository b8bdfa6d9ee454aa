package doctor

import (
	"fmt"

	"envfix/internal/machine"
	"envfix/internal/version"
)

// lastForOld are the newest CUDA whose builds have code for GPUs before Turing in
// every release: later ones dropped it, some at once, some in steps.
// Source: release/2.x build scripts of PyTorch, in torch/*.yaml.
const lastForOld = "12.6"

// oldInWords: a GPU before Turing, somebody who says that it is not served, and a
// build, or a GPU's generation, that is named with it.
func (e *exam) oldInWords() {
	said := e.fact("not-served")
	if said.IsZero() || e.Torch.NoCUDA || e.Torch.HIP != "" || e.available() && len(e.labels) == 0 {
		return
	}
	var old *machine.GPU
	for i := range e.Machine.GPUs {
		g := &e.Machine.GPUs[i]
		if g.Vendor != machine.NVIDIA {
			continue
		}
		if !e.before(*g, machine.SM{Major: 7, Minor: 5}) {
			return
		}
		if old == nil {
			old = g
		}
	}
	if old == nil {
		return
	}
	dropped := !e.fact("old-arch").IsZero()
	for _, label := range e.labels {
		if cuda, ok := labelCUDA(label); ok && version.MustDotted(lastForOld).Less(cuda) {
			dropped = true
		}
	}
	if dropped {
		e.find("ARC005", hint, Finding{Text: fmt.Sprintf("newer builds have no code for the %s", nameOr(*old)), Fix: e.buildFor(old.SM, gpuTooOld)}, e.fact("gpu"), said)
	}
}
