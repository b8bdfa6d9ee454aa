package main

import (
	"context"
	"fmt"
	"io"

	"envfix/internal/apply"
	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/place"
	"envfix/internal/planning"
	"envfix/internal/probe"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/internal/xslices"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

// homeAction is `envfix` alone: one screen that says what this machine is, whether
// torch works, and the next command to type.
func homeAction(c *cli.Context) error {
	at := place.Here()
	f := planFlags{machine: machineFlags{env: at.Dir}, target: placeFlags{place: at, env: at.ForPlan().Dir}}
	sayUnfinished(f.target.env)
	return f.home(c.Context, c.App.Writer)
}

func (f planFlags) home(ctx context.Context, out io.Writer) error {
	at := f.target.place
	f.machine.use = true // doctor's examination
	q, w, err := f.question(ctx)
	if err != nil {
		return err
	}
	w.Look, w.Read = f.look(ctx, q, false), f.read(ctx, q, false)
	w.Drivers = nil // which version of a driver comes is said where its steps are
	p, err := q.Draft(w)
	if err != nil {
		return err
	}
	faults, found, mends, ok := f.faults(ctx, q)
	d := ui.Dashboard{Plan: p, Environment: at.Line(), New: !place.IsEnv(at.Dir),
		Faults: faults, Mends: mends && !ok, Warned: ok, Found: found, Proved: provedOf(at.Dir)}
	if q.Target.Dir != at.Dir { // one of conda's is active
		d.Into = q.Target.Dir
	}
	_, err = io.WriteString(out, ui.Home(d, style(out)))
	return err
}

// provedOf is what an environment proved when it was made, in words; "" that was not
// written down.
func provedOf(env string) string {
	dir, _, err := place.Environment(env)
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

// madeWithoutGPU reports whether an environment was made for no GPU, and proved itself.
func madeWithoutGPU(env string) bool {
	dir, _, err := place.Environment(env)
	if err != nil {
		return false
	}
	p := apply.ProvedOf(dir)
	return p != nil && p.Torch != "" && p.GPUs+p.For == 0
}

// faults are what doctor finds, the root cause first, the environment that it looked at, "" a
// Python that is in none, whether a plan mends it, and whether torch computes all the same.
func (f planFlags) faults(ctx context.Context, q planning.Question) (said []string, found string, mends, ok bool) {
	patient, o := read.FromMachine(q.Machine), probeOptions(f.target.place.Dir)
	patient.Matrix, patient.Devices, patient.Standing = q.Matrix, matrix.Devices(), planning.Wished(q.Wish, q.Request)
	patient.WithoutGPU = madeWithoutGPU(f.target.place.Dir)
	patient.Files, patient.Around = probe.EnvFiles(o), probe.Around(o)
	r := (doctorFlags{plan: f}).examined(ctx, patient)
	bad := xslices.Filter(r.Findings, func(x doctor.Finding) bool { return x.Severity != know.Note })
	if patient.Files != nil && place.IsEnv(patient.Files.Dir) {
		found = patient.Files.Dir
	}
	return text.Each(bad, func(x doctor.Finding) string { return x.Text }), found, doctor.CureOf(&r, patient).First >= 0, r.OK
}
