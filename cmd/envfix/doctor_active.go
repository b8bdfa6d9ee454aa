package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
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
	dir, program := runsHere()
	switch {
	case os.Getenv("ENVFIX_ROOT") != "" || examined.named || program == "" || !isEnvDir(examined.dir) || sameDir(dir, examined.dir):
		return r
	case dir == "" && !pathRuns(activeEnv()):
		return r // that is told
	case dir == "":
		r.Findings = append(r.Findings, doctor.OtherFirst(activeEnv(), program, "`python` of this shell is "+program+", of no environment"))
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
	if other.Machine.Has("torch") == nil && !sameDir(dir, activeEnv()) { // for tools, perhaps: its Python runs all the same
		r.Findings = append(r.Findings, doctor.OtherFirst(activeEnv(), dir, "`python` runs another environment here, "+dir+", which has no torch"))
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

// pathRuns reports whether the Python of an environment is there.
func pathRuns(env string) bool {
	_, err := os.Stat(filepath.Join(env, "bin", "python"))
	return err == nil || runtime.GOOS == "windows"
}

// runsHere is the Python that this shell runs where an environment is active, and the
// environment that it is of, which may be another; "" it is of none, or none is active.
func runsHere() (dir, program string) {
	active := activeEnv()
	for _, name := range []string{"python", "python3"} {
		program, err := exec.LookPath(name)
		if err != nil || active == "" {
			continue
		}
		for _, dir := range []string{filepath.Dir(filepath.Dir(program)), filepath.Dir(program)} { // conda's lies in the folder itself on Windows
			if isEnvDir(dir) {
				return nameOf(dir), program
			}
		}
		return "", program
	}
	return active, active
}
