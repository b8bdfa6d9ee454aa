package places

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
)

// macCUDA: nothing that is wrong with a build or a driver makes CUDA run on a Mac.
func macCUDA(e *evidence.Evidence) (out evidence.Findings) {
	if e.Machine.Platform.OS != "macos" || e.GPU().Of(machine.NVIDIA) && e.Machine.Driver != nil {
		return
	}
	s, ok := e.Has(append([]string{"torch-cpu-build", "torch-not-linked-cuda", "torch-fp16-cpu", "app-no-gpu"},
		evidence.NoDevice...)...)
	if !ok && e.Torch.SeesNone() {
		s, ok = e.Torch.AvailableAt, true
	}
	if !ok && !e.Did.CondaCUDA.IsZero() {
		s, ok = e.Did.CondaCUDA, true
	}
	mps := slices.ContainsFunc(e.Hits, func(h evidence.Hit) bool { return strings.HasPrefix(h.Message.ID, "mps-") })
	if ok && !mps && e.Wanted().Unfound() == nil {
		out.Deny("HW001", "PY001") // no card of NVIDIA's belongs there, and no build has CUDA
		out.Find("MPS005", evidence.Proven, s, e.From.OS)
	}
	return out
}

// macTooOld: torch 2.5 and newer use MPS from macOS 13 on, whatever the older message
// names. Source: pytorch/pytorch, release notes of 2.5.
func macTooOld(e *evidence.Evidence) (out evidence.Findings) {
	h := e.Hit("mps-macos")
	if h == nil {
		return
	}
	f := out.Find("MPS001", evidence.Likely, h.At, e.Torch.VersionAt, e.From.OS)
	if l := e.Limit("mps-macos-13"); !evidence.PythonVersion(e.Torch.Version).IsZero() &&
		!l.Before(evidence.PythonVersion(e.Torch.Version)) {
		f.Says("torch %s uses the Apple GPU from macOS %s on; this macOS is older", e.Torch.Version, l.Value).
			Do(fmt.Sprintf("update to macOS %s or newer", l.Value),
				"or an older torch, for this macOS: `pip install \"torch<"+l.Torch.String()+"\"`")
	}
	return out
}
