package doctor

import (
	"fmt"

	"envfix/internal/doctor/read"
	"envfix/internal/version"
	"envfix/matrix"
)

// extensionRules look at compiled extensions and the torch beside them.
var extensionRules = []rule{
	{[]string{"PY019", "PY018"}, "an extension's version and torch's", (*exam).extensions},
}

// extensions: no wheel of this version of an extension was made for this torch.
func (e *exam) extensions() {
	t := pythonVersion(e.Torch.Version)
	if e.Matrix == nil || t.IsZero() || e.Torch.Rank < read.ByLabel {
		return
	}
	for _, name := range []string{"vllm", "xformers", "flash-attn", "torchao", "bitsandbytes", "mamba-ssm", "sglang"} {
		p := e.Installed(name)
		if p == nil {
			continue
		}
		if wants, ok := wanted(e.Matrix, name, p.Version, t); !ok && wants != "" {
			w := weak
			if _, symptom := e.has(
				"extension-abi", "vllm-c-missing", "xformers-built-for", "dll-extension",
				"lib-missing-other",
			); symptom {
				w = likely
			}
			e.find("PY019", w, p.At, e.Torch.VersionAt).
				says("%s %s is for torch %s, and torch is %s", name, p.Version, wants, e.Torch.Version).
				fix(fmt.Sprintf("`pip install \"torch%s\"`, or the %s for this torch: `envfix plan %s`", wants, name, name))
		}
	}
}

// wanted returns what the wheels of one version of an extension demand of torch,
// and whether this torch satisfies one of them. No row: "" and false.
func wanted(m *matrix.Matrix, name, v string, torch version.Python) (spec string, ok bool) {
	for _, x := range m.Extensions {
		if x.Package != name || x.Version.String() != read.Public(v) || x.Torch.IsZero() {
			continue
		}
		if x.Torch.Admits(torch) {
			return x.Torch.String(), true
		}
		spec = x.Torch.String()
	}
	return spec, false
}
