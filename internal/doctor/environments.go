package doctor

import (
	"cmp"
	"slices"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/xslices"
)

// Environments is the answer about every Python environment of a machine.
type Environments struct {
	Format       int           `json:"format"`
	GPU          bool          `json:"gpu"` // this machine has one that can be used
	Environments []Environment `json:"environments"`
	Closed       []string      `json:"closed"` // directories that could not be looked into
}

// An Environment is one row: what torch it has, whether that works on this machine, and
// how it came there.
type Environment struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"`             // venv, conda, system, pyenv, uv …
	Python string `json:"python,omitempty"` // its version; "" its interpreter is gone

	Torch     string                `json:"torch,omitempty"`     // with its label; "" none
	CUDA      string                `json:"cuda,omitempty"`      // that its build is for
	Works     string                `json:"works,omitempty"`     // see the Works constants; "" there is no torch
	Why       string                `json:"why,omitempty"`       // where it does not, or cannot be told
	Check     string                `json:"check,omitempty"`     // that says so
	Installed *machine.Installation `json:"installed,omitempty"` // nil: nothing tells
}

// The values of Environment.Works. WorksCPU: nothing is wrong, and the work is the
// processor's: its build is for the CPU, or there is no GPU.
const (
	WorksGPU     = "gpu"
	WorksCPU     = "cpu"
	WorksNot     = "no"
	WorksUnknown = "unknown"
)

// EnvironmentOf is the row of one place, from what was read of it and the report on it.
func EnvironmentOf(p machine.PythonPlace, c *read.Case, i *machine.Installation, r Report) Environment {
	e := Environment{Path: p.Dir, Kind: p.Kind, Python: p.Version, Installed: i}
	if p.Python == "" {
		e.Works, e.Why = WorksNot, "its Python is gone"
	}
	if c.Torch.Version == "" {
		return e
	}
	e.Torch = c.Torch.Named()
	if !c.Torch.CUDA.IsZero() {
		e.CUDA = c.Torch.CUDA.MajorMinor()
	}
	if p.Python == "" {
		return e
	}
	switch {
	case r.Verdict == Unknown:
		e.Works = WorksUnknown
	case r.Verdict == Faulty:
		e.Works = WorksNot
	case slices.ContainsFunc(c.Machine.GPUs, func(g machine.GPU) bool {
		return g.Visible && (g.Vendor == machine.NVIDIA && !c.Torch.CUDA.IsZero() || g.Vendor == machine.AMD && c.Torch.HIP != "" || g.Vendor == machine.Apple)
	}):
		e.Works = WorksGPU
	default:
		e.Works = WorksCPU
	}
	f, _ := xslices.Find(r.Findings, func(f Finding) bool { return f.Severity == know.Error || e.Works == WorksUnknown })
	e.Why, e.Check = f.Text, f.Check
	e.Why = cmp.Or(e.Why, map[string]string{WorksCPU: "no GPU that this build is for can be used here"}[e.Works])
	return e
}
