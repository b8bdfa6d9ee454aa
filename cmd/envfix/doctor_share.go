package main

import (
	"cmp"
	"os"
	"slices"

	"context"
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

// sharedReport is a report of which every text went through share.
func sharedReport(r doctor.Report, share func(string) string) doctor.Report {
	all := func(in []string) []string {
		out := slices.Clone(in)
		for i := range out {
			out[i] = share(out[i])
		}
		return out
	}
	r.Notes = all(r.Notes)
	r.Facts = slices.Clone(r.Facts)
	for i := range r.Facts {
		r.Facts[i].Value, r.Facts[i].Source = share(r.Facts[i].Value), share(r.Facts[i].Source)
	}
	r.Findings = slices.Clone(r.Findings)
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Text, f.Evidence, f.Fix = share(f.Text), all(f.Evidence), all(f.Fix)
	}
	if r.Process != nil {
		p := *r.Process
		p.User, p.Command, p.Env, p.Dir, p.Exe = "", share(p.Command), share(p.Env), share(p.Dir), share(p.Exe)
		p.Group, p.Gone = "", all(p.Gone)
		r.Process = &p
	}
	return r
}

// writeSarif writes the report for code scanning.
func (f doctorFlags) writeSarif(r doctor.Report) error {
	b, err := ui.Sarif(sharedReport(r, f.share()), know.Embedded(), buildVersion, f.from)
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
	return ui.DoctorMarkdown(sharedReport(r, share), facts, cmp.Or(today(), "undated"), share)
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
	page, err := ui.DoctorPage(sharedReport(r, share), p, facts, today(), share)
	return writePage(f.html, page, err)
}
