package main

import (
	"cmp"
	"context"
	"os"
	"slices"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/examine"
	"envfix/internal/machine"
	"envfix/internal/place"
	"envfix/internal/plan"
	"envfix/internal/text"
	"envfix/internal/ui"
)

// share takes out of a text what not everybody is to read: home paths, the names of the
// user and the machine, identifiers of GPUs and credentials. With --with-names only
// credentials go.
func (f doctorFlags) share() func(string) string {
	secrets := text.Secrets(os.Environ())
	if f.names {
		return func(s string) string { return text.Redact(s, secrets...) }
	}
	words := ownWords()
	return func(s string) string { return machine.AnonymousText(text.Redact(s, secrets...), words...) }
}

// writeSarif writes the report for code scanning.
func (f doctorFlags) writeSarif(r doctor.Report) error {
	b, err := ui.Sarif(doctor.Shared(r, f.share()), know.Embedded(), buildVersion, f.from)
	if err != nil {
		return err
	}
	_, err = f.out.Write(b)
	return err
}

// markdownText is the report for an issue.
func (f doctorFlags) markdownText(r doctor.Report, patient *read.Case) string {
	share := f.share()
	var facts *machine.Machine
	if !patient.Pasted {
		m := patient.Machine
		if !f.names {
			m = m.Anonymize(ownWords()...)
		}
		facts = &m
	}
	return ui.DoctorMarkdown(doctor.Shared(r, share), facts, cmp.Or(today(), "undated"), share)
}

// writePage writes the page of --html. A paste has no facts of a machine and no
// plan: what is read of it is in the evidence.
func (f doctorFlags) writePage(ctx context.Context, r doctor.Report, patient *read.Case) error {
	var p *plan.Plan
	var facts *machine.Machine
	if !patient.Pasted {
		facts = &patient.Machine
		if !r.OK {
			p, _ = f.withSteps(ctx, &r, patient) // where no plan can be made, the page has none
		}
	}
	share := f.share()
	if facts != nil && !f.names {
		m := facts.Anonymize(ownWords()...)
		facts = &m
	}
	page, err := ui.DoctorPage(doctor.Shared(r, share), p, facts, today(), share)
	return writePage(f.html, page, err)
}

// examined is what every command says of this machine and an environment: one examination,
// of the environment that `python` runs here too, where that is another one.
func (f doctorFlags) examined(ctx context.Context, patient *read.Case) doctor.Report {
	if !patient.Pasted {
		examine.Code(patient)
	}
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
