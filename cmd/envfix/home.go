package main

import (
	"io"

	"envfix/installers"
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

// homeAction is `envfix` alone: one screen that says what this machine is, what
// is wrong, and the next command to type.
func homeAction(c *cli.Context) error {
	m, err := matrixFor()
	if err != nil {
		return err
	}
	h := thisMachine(c.Context, "", false)
	r := resolver.Request{Today: today(), ProjectPython: projectPython(".")}
	res, err := resolver.Resolve(m, h, r)
	if err != nil {
		return err
	}
	p, err := installers.Plan(m, h, r, res, plan.Target{Dir: ".venv"})
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.App.Writer, ui.Home(p, faults(m, h), style(c.App.Writer)))
	return err
}

// faults are the first of what doctor finds, which envfix alone has room for.
func faults(m *matrix.Matrix, h machine.Machine) []string {
	patient := read.FromMachine(h)
	patient.Matrix = m
	var out []string
	for _, f := range doctor.Examine(know.Embedded(), patient).Findings {
		if f.Severity != know.Note && len(out) < 3 {
			out = append(out, f.Text)
		}
	}
	return out
}
