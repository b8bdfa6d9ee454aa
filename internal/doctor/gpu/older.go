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
