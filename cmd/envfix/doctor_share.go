package main

import (
	"cmp"
	"context"
	"os"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
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
