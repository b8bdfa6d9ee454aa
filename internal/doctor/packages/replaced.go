package packages

import (
	"cmp"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// replaced: something put another torch in the place of the one that worked.
func replaced(e *evidence.Evidence, out *evidence.Findings) {
	r := e.Replaced
	_, lost := e.Has("torch-cpu-build")
	by := r.To
	switch {
	case r.Worse():
	case r.From != "" && r.To == "" && lost:
		by = "a build without CUDA"
	default:
		return
	}
	v, label := version.SplitLocal(r.From)
	f := out.Find("PY006", evidence.Proven, r.At).
		Says("torch %s was replaced by %s", r.From, by)
	if e.Matrix == nil || !strings.HasPrefix(label, "cu") {
		return
	}
	b, ok := e.Matrix.BuildOf(v, label, cmp.Or(e.Machine.Platform.OS, "linux"), cmp.Or(e.Machine.Platform.Arch, "x86_64"))
	if ok && b.Index != "" && e.Fit.Takes(v, label) {
		of := machine.Machine{Platform: machine.Platform{OS: b.OS, Arch: b.Arch}}
		f.Do("`pip install --force-reinstall "+e.Pair().Words(v, label, of)+" --index-url "+b.Index+"`",
			"keep it: `pip install -c constraints.txt -r requirements.txt`, with the line torch=="+r.From+" in constraints.txt")
	}
}
