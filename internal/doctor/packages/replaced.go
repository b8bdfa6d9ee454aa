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

// uvProject: what `uv sync` installs, the project's own sources decide.
func uvProject(e *evidence.Evidence, out *evidence.Findings) {
	s := e.Did.UVProject
	if s.IsZero() || !e.Torch.NoCUDA || e.CPUByChoice() {
		return
	}
	out.Deny("PY001", "PY016")
	out.Find("PY001", evidence.Proven, s, e.Torch.VersionAt).
		Says("uv installed the CPU build of torch: the project's sources or markers give this system no index with CUDA").
		Do("in pyproject.toml: under `[tool.uv.sources]` torch must name PyTorch's index for this system too; see its marker (sys_platform)",
			"then `uv lock` and `uv sync --reinstall-package torch`",
			"`envfix plan` names the index for the GPU and driver")
}
