package gpu

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
)

// branchDropsGPU: the installed driver branch no longer drives the GPU, or does
// not drive it yet.
func branchDropsGPU(e *evidence.Evidence, out *evidence.Findings) {
	d := e.Machine.Driver
	if e.Matrix == nil || d == nil || d.Version.IsZero() || e.Torch.SeesGPU() {
		return
	}
	for _, g := range e.Machine.GPUs {
		a, ok := e.Matrix.Arch(g.SM)
		if g.Vendor != machine.NVIDIA || !ok {
			continue
		}
		var f *evidence.Finding
		switch {
		case a.LastBranch > 0 && d.Version.Major() > a.LastBranch:
			f = out.Find("HW014", evidence.Likely, e.From.Driver, e.From.GPU).
				Says("driver %s no longer drives the %s; branch %d is the last that does", d.Version, g.Name,
					a.LastBranch).
				Do(fmt.Sprintf("install driver branch %d and hold it", a.LastBranch))
			if !e.Pasted && !g.Visible { // then it is seen; what torch has code for comes after
				f.Do(fmt.Sprintf("install driver branch %d and hold it: `envfix plan --change-driver` names its steps, and the torch for this GPU", a.LastBranch)).
					Explaining("ARC005", "ARC002", "DRV013").Proof = evidence.Proven.Exact()
			}
		case !e.Driver().First(a).IsZero() && d.Version.Less(e.Driver().First(a)):
			f = out.Find("DRV005", evidence.Likely, e.From.Driver, e.From.GPU).
				Says("driver %s does not know the %s; the first that does is %s", d.Version, g.Name, e.Driver().First(a)).
				Do("update the NVIDIA driver")
		case !e.Pasted && !g.Visible && d.KernelModule != "" && len(a.Modules) > 0 && !slices.Contains(a.Modules, d.KernelModule):
			f = out.Find(map[bool]string{true: "HW013", false: "HW022"}[d.KernelModule == "open"], evidence.Likely, e.From.Driver, e.From.GPU)
		default:
			continue
		}
		if e.GPU().Spare(g) {
			f.As(evidence.Note)
		}
		return
	}
}

// refused: the driver says that it does not support the GPU, and by the data it
// does: what it meets is a card in another state, or a driver of another kind.
func refused(e *evidence.Evidence, out *evidence.Findings) {
	s, ok := e.Has("legacy-gpu")
	d := e.Machine.Driver
	if !ok || e.Matrix == nil || d == nil || d.Version.IsZero() || !strings.Contains(s.Text, "not supported by the") {
		return
	}
	for _, g := range e.Machine.GPUs {
		a, known := e.Matrix.Arch(g.SM)
		if g.Vendor != machine.NVIDIA || !known || a.LastBranch > 0 && d.Version.Major() > a.LastBranch ||
			d.Version.Less(e.Driver().First(a)) {
			continue
		}
		out.Find("KMD008", evidence.Likely, s, e.From.GPU).
			Says("driver %s drives a %s and refuses this one: it is powered down, in another mode (vGPU, confidential computing), or its firmware is too old",
				d.Version, evidence.NameOf(g))
		return
	}
}
