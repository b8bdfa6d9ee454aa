package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/plan"
	"envfix/internal/text"
)

// examined is what every command says of this machine and an environment: one examination,
// of the environment that `python` runs here too, where that is another one.
func (f doctorFlags) examined(ctx context.Context, patient *read.Case) doctor.Report {
	if patient.Pasted || f.pid > 0 || f.plan.machine.elsewhere() {
		return doctor.Examine(know.Embedded(), patient)
	}
	nullVariant(patient)
	r := doctor.Examine(know.Embedded(), patient)
	examined, dir := f.plan.target.place, runsHere()
	if os.Getenv("ENVFIX_ROOT") != "" || examined.named || dir == "" || !isEnvDir(examined.dir) || sameDir(dir, examined.dir) {
		return r
	}
	f.plan.machine.env = dir
	other, err := f.patient(ctx)
	if err != nil {
		return r
	}
	if other.Machine.Has("torch") == nil && !sameDir(dir, activeEnv()) { // for tools, perhaps: its Python runs all the same
		r.Findings = append(r.Findings, doctor.Finding{Cause: "none", Check: "PY021", Severity: know.Warning, Confidence: doctor.High, Elsewhere: dir,
			Evidence: []string{}, Steps: []plan.Step{}, Explains: []string{},
			Text: "`python` runs another environment here, " + dir + ", which has no torch: it comes before " + activeEnv() + " on PATH, which is the active one",
			Fix: []string{"`source " + text.Command(activeEnv()+"/bin/activate") + "` in a new shell, or `" +
				text.Command(activeEnv()+"/bin/python") + "` by its path"}})
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

// runsHere is the environment whose Python this shell runs, where one is active: of the first
// one on PATH, which may be another's. "" none is.
func runsHere() string {
	active := activeEnv()
	for _, name := range []string{"python", "python3"} {
		if program, err := exec.LookPath(name); err == nil && active != "" {
			if dir := filepath.Dir(filepath.Dir(program)); isEnvDir(dir) {
				return nameOf(dir)
			}
			break
		}
	}
	return active
}
