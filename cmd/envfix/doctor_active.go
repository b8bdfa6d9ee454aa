package main

import (
	"context"
	"os"
	"slices"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
)

// active also looks at the environment that is activated, where that is another than the
// one that was examined: it is what `python` runs here, so what is wrong with it comes first.
func (f doctorFlags) active(ctx context.Context, r *doctor.Report, patient *read.Case) {
	examined, dir := f.plan.target.place, activeEnv()
	if patient.Pasted || f.pid > 0 || f.plan.machine.elsewhere() || os.Getenv("ENVFIX_ROOT") != "" ||
		examined.named || dir == "" || !isEnvDir(examined.dir) || sameDir(dir, examined.dir) {
		return
	}
	g := f
	g.plan.machine.env = dir
	other, err := g.patient(ctx)
	if err != nil {
		return
	}
	for _, x := range slices.Backward(doctor.Examine(know.Embedded(), other).Findings) {
		known := slices.ContainsFunc(r.Findings, func(o doctor.Finding) bool { return o.Check == x.Check && o.Text == x.Text })
		if x.Severity < know.Error || known {
			continue
		}
		x.Text = "the environment that is active, " + dir + ", is another one, and what `python` runs here: " + x.Text
		x.Mend = doctor.Mend{} // a plan is for the one that was examined
		r.Findings = append([]doctor.Finding{x}, r.Findings...)
		r.OK, r.Verdict = false, doctor.Faulty
	}
}
