package gpu

import (
	"slices"

	"envfix/internal/doctor/evidence"
)

// oldInWords: a GPU before Turing, somebody who says that it is not served, and a
// build, or a GPU's generation, that is named with it.
func oldInWords(e *evidence.Evidence, out *evidence.Findings) {
	said, old := e.Says.NotServed, e.GPU().AllBefore(e.LimitSM("turing", 0))
	if said.IsZero() || old == nil || e.Torch.NoCUDA || e.Torch.HIP != "" || e.Torch.SeesGPU() && len(e.Labels) == 0 {
		return
	}
	last := evidence.Dotted(e.Limit("cuda-for-old").Values[0])
	if !e.Says.OldArch.IsZero() || slices.ContainsFunc(e.Labels, func(label string) bool {
		cuda, ok := evidence.LabelCUDA(label)
		return ok && last.Less(cuda)
	}) {
		out.Find("ARC005", evidence.Hint, e.From.GPU, said).
			Says("newer builds have no code for the %s", evidence.NameOf(*old)).
			Do(buildFor(e, old.SM, gpuTooOld)...)
	}
}

// openForOld: the open kernel module does not drive GPUs before Turing.
// Source: NVIDIA/open-gpu-kernel-modules, README.
func openForOld(e *evidence.Evidence, out *evidence.Findings) {
	said, old := e.Says.OpenModule, e.GPU().AllBefore(e.LimitSM("turing", 0))
	_, silent := e.None()
	if old != nil && !said.IsZero() && (silent || !e.Says.Unseen.IsZero() || e.Says.Trouble) {
		out.Find("HW013", evidence.Strong.Exact(), said, e.From.GPU).
			Says("the open kernel module does not drive the %s: it begins with Turing", evidence.NameOf(*old))
	}
}
