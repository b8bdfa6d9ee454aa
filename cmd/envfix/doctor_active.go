package main

import (
	"context"
	"os"
	"slices"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/place"
	"envfix/internal/text"
)

// examined is what every command says of this machine and an environment: one examination,
// of the environment that `python` runs here too, where that is another one.
func (f doctorFlags) examined(ctx context.Context, patient *read.Case) doctor.Report {
	if patient.Pasted || f.pid > 0 || f.plan.machine.elsewhere() {
		return doctor.Examine(know.Embedded(), patient)
	}
	doctor.NullVariant(patient, os.DirFS)
	r := doctor.Examine(know.Embedded(), patient)
	examined := f.plan.target.place
	dir, program := place.RunsHere()
	switch {
	case os.Getenv("ENVFIX_ROOT") != "" || examined.Named || program == "" || !place.IsEnv(examined.Dir) || place.SameDir(dir, examined.Dir):
		return r
	case dir == "" && !place.PathRuns(place.Active()):
		return r // that is told
	case dir == "":
		r.Findings = append(r.Findings, doctor.OtherFirst(place.Active(), program, "`python` of this shell is "+program+", of no environment"))
		return r
	}
	return f.withOther(ctx, r, dir)
}

// withOther adds to a report what is wrong with the environment that `python` runs.
func (f doctorFlags) withOther(ctx context.Context, r doctor.Report, dir string) doctor.Report {
	f.plan.machine.env = dir
	other, err := f.patient(ctx)
	if err != nil {
		return r
	}
	if other.Machine.Has("torch") == nil && !place.SameDir(dir, place.Active()) { // for tools, perhaps: its Python runs all the same
		r.Findings = append(r.Findings, doctor.OtherFirst(place.Active(), dir, "`python` runs another environment here, "+dir+", which has no torch"))
		return r
	}
	for _, x := range slices.Backward(doctor.Examine(know.Embedded(), other).Findings) {
		known := slices.ContainsFunc(r.Findings, func(o doctor.Finding) bool { return o.Check == x.Check && o.Text == x.Text })
		if x.Severity < know.Error || known {
			continue
		}
		x.Text = "`python` runs another environment here, " + dir + ": " + x.Text
		x.Fix = append(x.Fix, "`"+text.Command("envfix", "doctor", "--fix", "--env", dir)+"`")
		x.Elsewhere = dir
		r.Findings = append([]doctor.Finding{x}, r.Findings...)
		r.OK, r.Verdict = false, doctor.Faulty
	}
	return r
}
