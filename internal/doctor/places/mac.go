package places

import (
	"fmt"

	"envfix/internal/doctor/evidence"
)

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
