package doctor

import (
	"envfix/internal/doctor/read"
	"envfix/internal/version"
)

// oldInWords: a GPU before Turing, somebody who says that it is not served, and a
// build, or a GPU's generation, that is named with it.
func (e *exam) oldInWords() {
	said, old := e.Says.NotServed, e.allBefore(e.limitSM("turing", 0))
	if said.IsZero() || old == nil || e.Torch.NoCUDA || e.Torch.HIP != "" || e.available() && len(e.Labels) == 0 {
		return
	}
	dropped := !e.Says.OldArch.IsZero()
	for _, label := range e.Labels {
		if cuda, ok := read.LabelCUDA(label); ok && version.MustDotted(e.limit("cuda-for-old").Values[0]).Less(cuda) {
			dropped = true
		}
	}
	if dropped {
		e.find("ARC005", hint, e.From.GPU, said).
			says("newer builds have no code for the %s", nameOr(*old)).
			fix(e.buildFor(old.SM, gpuTooOld)...)
	}
}

// openForOld: the open kernel module does not drive GPUs before Turing.
// Source: NVIDIA/open-gpu-kernel-modules, README.
func (e *exam) openForOld() {
	said, old := e.Says.OpenModule, e.allBefore(e.limitSM("turing", 0))
	_, silent := e.has(noDevice...)
	if old != nil && !said.IsZero() && (silent || !e.Says.Unseen.IsZero() || e.unavailable() || e.Says.Trouble) {
		e.find("HW013", strong+3, said, e.From.GPU).
			says("the open kernel module does not drive the %s: it begins with Turing", nameOr(*old))
	}
}
