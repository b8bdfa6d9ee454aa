package places

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
)

// macCUDA: nothing that is wrong with a build or a driver makes CUDA run on a Mac.
func macCUDA(e *evidence.Evidence, out *evidence.Findings) {
	if e.Machine.Platform.OS != "macos" || e.GPU().Of(machine.NVIDIA) && e.Machine.Driver != nil {
		return
	}
	s, ok := e.None("torch-cpu-build", "torch-not-linked-cuda", "torch-fp16-cpu", "app-no-gpu")
	if !ok && !e.Did.CondaCUDA.IsZero() {
		s, ok = e.Did.CondaCUDA, true
	}
	mps := slices.ContainsFunc(e.Hits, func(h evidence.Hit) bool { return strings.HasPrefix(h.Message.ID, "mps-") })
	if ok && !mps && e.Wanted().Unfound() == nil {
		out.Deny("HW001", "PY001") // no card of NVIDIA's belongs there, and no build has CUDA
		out.Find("MPS005", evidence.Proven, s, e.From.OS)
	}
}

// macTooOld: the matrix knows from which macOS on a torch uses MPS, whatever the message
// names.
func macTooOld(e *evidence.Evidence, out *evidence.Findings) {
	h, v := e.Hit("mps-macos"), evidence.PythonVersion(e.Torch.Version)
	if h == nil {
		return
	}
	f := out.Find("MPS001", evidence.Likely, h.At, e.Torch.VersionAt, e.From.OS)
	if e.Matrix == nil || v.IsZero() {
		return
	}
	if b, ok := e.Matrix.Backend("mps", v, "macos", "arm64"); ok {
		first := v.String()
		for _, r := range e.Matrix.Releases { // newest first
			if b.Torch.Admits(r.Torch) {
				first = r.Torch.String()
			}
		}
		f.Says("torch %s uses the Apple GPU from macOS %s on; this macOS is older", e.Torch.Version, b.MinOS).
			Do(fmt.Sprintf("update to macOS %s or newer", b.MinOS), "or an older torch, for this macOS: `pip install \"torch<"+first+"\"`")
	}
}
