package gpu

import (
	"fmt"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/xslices"
	"envfix/matrix"
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
		if f := undriven(e, out, g, a); f != nil {
			if e.GPU().Spare(g) { // a driver that brought it back would leave the others
				f.As(evidence.Note).Do("nothing has to be done: the other GPU does the work, and a driver for this one may not know it")
			}
			return
		}
	}
}

// undriven says why the installed driver does not drive a GPU; nil where it does.
func undriven(e *evidence.Evidence, out *evidence.Findings, g machine.GPU, a matrix.Arch) *evidence.Finding {
	d, first, unseen := e.Machine.Driver, e.Driver().First(a), !e.Pasted && !g.Visible
	switch {
	case a.LastBranch > 0 && d.Version.Major() > a.LastBranch:
		f := out.Find("HW014", evidence.Likely, e.From.Driver, e.From.GPU).
			Says("driver %s no longer drives the %s; branch %d is the last that does", d.Version, g.Name, a.LastBranch).
			Do(fmt.Sprintf("install driver branch %d and hold it", a.LastBranch))
		if unseen { // then it is seen; what torch has code for comes after
			f.Do(fmt.Sprintf("install driver branch %d and hold it: `envfix plan --change-driver` names its steps, and the torch for this GPU", a.LastBranch)).
				Explaining("ARC005", "ARC002", "DRV013").Proof = evidence.Proven.Exact()
		}
		return f
	case !first.IsZero() && d.Version.Less(first):
		return out.Find("DRV005", evidence.Likely, e.From.Driver, e.From.GPU).
			Says("driver %s does not know the %s; the first that does is %s", d.Version, g.Name, first).
			Do("update the NVIDIA driver").Explaining("HW014", "DRV013")
	case e.Pasted && e.Hit("no-devices") != nil && d.KernelModule == "" && e.Says.OpenModule.IsZero() && !xslices.Admits(a.Modules, "proprietary"):
		return out.Find("HW022", evidence.Strong, e.Hit("no-devices").At, e.From.GPU)
	case unseen && d.KernelModule != "" && !xslices.Admits(a.Modules, d.KernelModule):
		return out.Find(say.Either(d.KernelModule == "open", "HW013", "HW022"), evidence.Likely, e.From.Driver, e.From.GPU)
	}
	return nil
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
