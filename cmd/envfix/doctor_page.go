package main

import (
	"context"

	"envfix/internal/doctor"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/ui"
)

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
