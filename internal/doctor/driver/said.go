package driver

import (
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/version"
)

// saidFloor: nobody says which build of torch it is, and the CUDA that is there needs a
// newer driver. Programs of that CUDA fail on it, whatever brought them.
func saidFloor(e *evidence.Evidence) (out evidence.Findings) {
	d, cuda := e.Machine.Driver, e.SaidCUDA()
	if !e.Pasted || d == nil || d.Version.IsZero() || !e.Torch.CUDA.IsZero() || e.Torch.NoCUDA || e.Torch.SeesGPU() || cuda.IsZero() {
		return
	}
	_, insufficient := e.Has("cudart-insufficient")
	floor := floorOfOld(e, cuda)
	if floor.IsZero() || !d.Version.Less(floor) || !insufficient && !e.Torch.SeesNone() &&
		e.Says.Unseen.IsZero() && !e.Says.Trouble && !e.Says.Asks {
		return
	}
	out.Find("DRV005", evidence.Strong.Exact(), e.From.Driver, e.Says.CUDA, e.Torch.AvailableAt).
		Says("driver %s is too old for CUDA %s, which needs %s or newer", d.Version, cuda, floor)
	return out
}

// floorOfOld is [exam.floor], also for the CUDA of times before the data begins.
func floorOfOld(e *evidence.Evidence, cuda version.Dotted) version.Dotted {
	for _, row := range e.Limit("driver-of-old-cuda").Values {
		if f := strings.Fields(row); f[0] == cuda.MajorMinor() {
			if e.Driver().WindowsColumn() {
				return evidence.Dotted(f[2])
			}
			return evidence.Dotted(f[1])
		}
	}
	return e.Driver().Floor(cuda)
}
