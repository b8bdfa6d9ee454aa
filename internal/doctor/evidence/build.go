package evidence

import (
	"cmp"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/matrix"
)

// PythonVersion reads a version of PEP 440; zero where it is none.
func PythonVersion(s string) version.Python {
	v, _ := version.ParsePython(s)
	return v
}

// PlanCommand asks envfix for this very machine.
func (e *Evidence) PlanCommand() string {
	words := []string{"envfix", "plan"}
	if !e.Pasted {
		return strings.Join(words, " ")
	}
	for i, g := range e.Machine.GPUs {
		name := ""
		switch {
		case g.Vendor == machine.NVIDIA && !g.SM.IsZero():
			name = g.SM.String()
		case !e.GPU().Of(machine.NVIDIA):
			name = g.GFX
		}
		if i < 4 && name != "" && !slices.Contains(words, name) {
			words = append(words, "--gpu", name)
		}
	}
	if d := e.Machine.Driver; d != nil && !d.Version.IsZero() {
		words = append(words, "--driver", d.Version.String())
	}
	if os := e.Machine.Platform.OS; os != "" && os != "linux" {
		words = append(words, "--os", os)
	}
	if arch := e.Machine.Platform.Arch; arch == "aarch64" && e.Machine.Platform.OS == "linux" {
		words = append(words, "--arch", arch)
	}
	return strings.Join(words, " ")
}

// Build returns the build of the matrix that is installed.
func (e *Evidence) Build() (*matrix.Build, bool) {
	if e.Matrix == nil || e.Torch.Version == "" || e.Torch.CUDA.IsZero() {
		return nil, false
	}
	r, ok := e.Matrix.Release(e.Torch.Version)
	if !ok {
		return nil, false
	}
	p := e.Machine.Platform
	label := "cu" + strings.ReplaceAll(e.Torch.CUDA.MajorMinor(), ".", "")
	return r.Build(label, cmp.Or(p.OS, "linux"), cmp.Or(p.Arch, "x86_64"))
}
