// Package installers turns a resolution into the steps of a plan: the exact
// command lines of uv, pip, conda and the system's package manager. It runs
// nothing and reads nothing; package apply does.
package installers

import (
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/matrix"
	"envfix/resolver"
)

// Plan returns the sealed plan that carries res out on machine h into t. The
// plan has no steps where nothing can be done, or where h conforms already.
func Plan(m *matrix.Matrix, h machine.Machine, r resolver.Request, res *resolver.Resolution, t plan.Target) (*plan.Plan, error) {
	p := describe(m, h, r, res)
	p.Target = t
	return p, plan.Seal(p)
}

// describe copies what was decided.
func describe(m *matrix.Matrix, h machine.Machine, r resolver.Request, res *resolver.Resolution) *plan.Plan {
	p := &plan.Plan{
		Decision:     res.Decision,
		Driver:       driver(res.Driver),
		Then:         res.Then,
		Fallback:     res.Fallback,
		Environments: res.Environments,
		VisibleGPUs:  res.VisibleGPUs,
		Nearest:      res.Nearest,
		Alternatives: res.Alternatives,
		Reasons:      res.Reasons,
		Warnings:     res.Warnings,
		HeldBack:     res.HeldBack,
		Basis: plan.Basis{
			Matrix:  plan.MatrixID{Version: m.Version, SHA256: m.SHA256},
			Facts:   h,
			Request: r,
		},
	}
	if c := res.Choice; c != nil {
		p.Torch, p.Build, p.CUDA, p.CuDNN, p.Python = c.Torch, c.Build, c.CUDA, c.CuDNN, c.Python
		p.Channel, p.Index, p.Packages = c.Channel, c.Index, c.Packages
	}
	return p
}

func driver(d resolver.DriverChoice) plan.Driver {
	return plan.Driver{Action: d.Action, Minimum: plan.Text(d.Minimum), Branch: text(d.Branch), KernelModule: text(d.KernelModule)}
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
