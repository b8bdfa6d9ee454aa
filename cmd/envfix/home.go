package main

import (
	"fmt"
	"io"

	"envfix/installers"
	"envfix/internal/apply"
	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/ui"
	"envfix/matrix"
	"envfix/resolver"

	"github.com/urfave/cli/v2"
)

// homeAction is `envfix` alone: one screen that says what this machine is, whether
// torch works, and the next command to type.
func homeAction(c *cli.Context) error {
	m, err := matrixFor()
	if err != nil {
		return err
	}
	at := placeHere()
	h := thisMachine(c.Context, at.dir, false)
	target := plan.Target{Dir: at.forPlan().dir}
	r := resolver.Request{Today: today(), ProjectPython: projectPython(".")}
	will := installers.WithDistributionPython(m, h)
	res, err := resolver.Resolve(m, will, r)
	if err != nil {
		return err
	}
	p, err := installers.Unsealed(m, will, r, res, target)
	if err != nil {
		return err
	}
	p.Basis.Facts = h
	d := ui.Dashboard{Plan: p, Environment: at.line(), New: !isEnvDir(at.dir), Faults: faults(m, h), Proved: provedOf(at.dir)}
	if target.Dir != at.dir { // one of conda's is active
		d.Into = target.Dir
	}
	_, err = io.WriteString(c.App.Writer, ui.Home(d, style(c.App.Writer)))
	return err
}

// provedOf is what an environment proved when it was made, in words; "" that was not
// written down.
func provedOf(env string) string {
	dir, _, err := environment(env)
	if err != nil {
		return ""
	}
	p := apply.ProvedOf(dir)
	switch {
	case p == nil || p.Torch == "":
		return ""
	case p.GPUs == 0:
		return fmt.Sprintf("torch %s was imported when it was made; there was no GPU to compute on", ui.Clean(p.Torch))
	}
	return fmt.Sprintf("%s computed with torch %s when it was made", ui.Count(p.GPUs, "GPU"), ui.Clean(p.Torch))
}

// faults are what doctor finds, the root cause first.
func faults(m *matrix.Matrix, h machine.Machine) []string {
	patient := read.FromMachine(h)
	patient.Matrix = m
	var out []string
	for _, f := range doctor.Examine(know.Embedded(), patient).Findings {
		if f.Severity != know.Note {
			out = append(out, f.Text)
		}
	}
	return out
}
