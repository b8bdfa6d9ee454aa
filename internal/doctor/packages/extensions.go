package packages

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/version"
	"envfix/matrix"
)

// extensions: no wheel of this version of an extension was made for this torch.
func extensions(e *evidence.Evidence, out *evidence.Findings) {
	t := evidence.PythonVersion(e.Torch.Version)
	if e.Matrix == nil || t.IsZero() || e.Torch.Rank < evidence.ByLabel {
		return
	}
	for _, name := range []string{"vllm", "xformers", "flash-attn", "torchao", "bitsandbytes", "mamba-ssm", "sglang"} {
		p := e.Installed(name)
		if p == nil {
			continue
		}
		if wants, ok := wanted(e.Matrix, name, p.Version, t); !ok && wants != "" {
			w := evidence.Weak
			if _, symptom := e.Has(e.Limit("extension-trouble").Values...); symptom {
				w = evidence.Likely
			}
			out.Find("PY019", w, p.At, e.Torch.VersionAt).
				Says("%s %s is for torch %s, and torch is %s", name, p.Version, wants, e.Torch.Version).
				Do(fmt.Sprintf("`pip install \"torch%s\"`, or the %s for this torch: `envfix plan %s`", wants, name, name))
		}
	}
}

// noBinary: a package chooses among its libraries by torch's CUDA, and has none for it. Newer
// releases of bitsandbytes take one of the same major version (cextension.py).
func noBinary(e *evidence.Evidence, out *evidence.Findings) {
	if e.Files == nil || e.Torch.CUDA.IsZero() || e.Machine.Env["BNB_CUDA_VERSION"] != "" {
		return
	}
	cuda, major := e.Torch.CUDA.MajorMinor(), fmt.Sprintf("%d.", e.Torch.CUDA.Major())
	for _, p := range e.Files.ForCUDA {
		if slices.Contains(p.Versions, cuda) {
			continue
		}
		f := out.Find("PY019", evidence.Likely, evidence.Fact("%s: libraries for CUDA %s", p.Dist, strings.Join(p.Versions, " ")), e.Torch.CUDAAt).
			Says("%s has no library for CUDA %s, which torch %s is built for: what it computes on a GPU fails", p.Dist, cuda, e.Torch.Named()).
			Do("`pip install -U "+p.Dist+"`: newer releases are for newer CUDAs", "`envfix plan "+p.Dist+"` names a pair that fits")
		if slices.ContainsFunc(p.Versions, func(v string) bool { return strings.HasPrefix(v, major) }) {
			f.As(evidence.Warning)
		}
	}
}

// wanted returns what the wheels of one version of an extension demand of torch,
// and whether this torch satisfies one of them. No row: "" and false.
func wanted(m *matrix.Matrix, name, v string, torch version.Python) (spec string, ok bool) {
	for _, x := range m.Extensions {
		if x.Package != name || x.Version.String() != evidence.Public(v) || x.Torch.IsZero() {
			continue
		}
		if x.Torch.Admits(torch) {
			return x.Torch.String(), true
		}
		spec = x.Torch.String()
	}
	return spec, false
}

// pinning are the packages whose releases name the one torch that they are built for: what
// installs them with what they ask for brings it.
var pinning = []string{"vllm", "sglang", "xformers", "lmdeploy"}

// bringsTorch: installed anew without what it asks for, such a package meets the same torch again.
func bringsTorch(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	usual := e.Knowledge.Checks["PY019"].Fix
	for _, f := range found.Of("PY019") {
		name := e.Extension().Named(f.Quotes())
		if !slices.Equal(f.Fix, usual) || !slices.Contains(pinning, name) {
			continue
		}
		out.Anew(f).Do(fmt.Sprintf("`pip install --force-reinstall %s`: it brings the torch that it was built for", name),
			fmt.Sprintf("where the torch has to stay: the release of %s that is for it, which `envfix plan %s` names", name, name),
			"a copy that was compiled from source: compile it anew after each change of torch, `pip install --no-build-isolation --no-deps -e .`")
	}
}
