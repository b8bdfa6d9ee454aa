package doctor

import (
	"slices"

	"envfix/internal/doctor/access"
	"envfix/internal/doctor/build"
	"envfix/internal/doctor/code"
	"envfix/internal/doctor/containers"
	"envfix/internal/doctor/devices"
	"envfix/internal/doctor/driver"
	"envfix/internal/doctor/evidence"
	"envfix/internal/doctor/gpu"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/libraries"
	"envfix/internal/doctor/memory"
	"envfix/internal/doctor/messages"
	"envfix/internal/doctor/packages"
	"envfix/internal/doctor/places"
	"envfix/internal/doctor/read"
	"envfix/internal/doctor/settings"
	"envfix/internal/doctor/unsaid"
	"envfix/internal/doctor/use"
	"envfix/internal/doctor/wheels"
	"envfix/internal/xslices"
)

// rooms are all rules, those that are asked after the others in the order in which they
// are asked.
var rooms = slices.Concat(
	messages.Rules,
	build.Rules,
	gpu.Rules,
	driver.Rules,
	libraries.Rules,
	packages.Rules,
	places.Rules,
	access.Rules,
	memory.Rules,
	wheels.Rules,
	use.Rules,
	ofFiles,
	containers.Rules,
	[]evidence.Rule{{After: evidence.AfterRows}},
	code.Rules,
	settings.Rules,
	devices.Rules,
	unsaid.Rules,
)

// An exam is one examination, where a choice is made or a remedy written.
type exam struct {
	*evidence.Evidence
}

// judge asks all rules: first those that look at facts alone, then those that also look
// at what the others found.
func judge(e *evidence.Evidence) (found evidence.Found) {
	asked := xslices.Filter(rooms, func(r evidence.Rule) bool { return !r.OnFiles || e.Files != nil })
	for _, r := range asked {
		if r.Find != nil {
			var out evidence.Findings
			r.Find(e, &out)
			found = found.With(out, e.Knowledge)
		}
	}
	found = evidence.Rows(e, found)
	for _, r := range asked {
		if r.After != nil {
			var out evidence.Findings
			r.After(e, found, &out)
			found = found.With(out, e.Knowledge)
		}
	}
	return found
}

// Examine returns what is wrong, the root cause first.
func Examine(k *know.Knowledge, c *read.Case) Report {
	e := newExam(k, c)
	found := judge(e.Evidence)
	atWork := !e.Says.Finished.IsZero() && !e.Says.Asks // a GPU, and nobody asks anything of it
	report := Report{Format: Format, OK: !c.Pasted || len(found) > 0 || e.Torch.SeesGPU() && !e.Says.Asks || atWork,
		Findings: []Finding{}, Notes: c.Notes, Process: c.Running}
	for _, f := range rank(found.Merge(), k.Causes) {
		f.Fix = e.ways(remedy{f.Check, f.Fix, f.Places}, f.Quotes())
		if repeats(report.Findings, f) {
			continue
		}
		if f.Severity == know.Error || slices.Contains(untold, f.Check) {
			report.OK = false
		}
		report.Findings = append(report.Findings, f.whole())
	}
	report.Findings = tried(report.Findings, c.Did)
	report.Verdict = verdict(report)
	report.Facts = knownFacts(e.Evidence)
	return report
}

// repeats reports whether a finding says what one before it said, in the same words.
func repeats(before []Finding, f *ranked) bool {
	return slices.ContainsFunc(before, func(o Finding) bool { return o.Text == f.Text && slices.Equal(o.Fix, f.Fix) })
}

// untold are the checks that say that a cause could not be told.
var untold = []string{"GPU001", "GPU002", "GPU003"}

// verdict is the report in one word: what the first finding says, where there is one.
func verdict(r Report) Verdict {
	worst := know.Note
	for _, f := range r.Findings {
		worst = max(worst, f.Severity)
	}
	switch {
	case len(r.Findings) > 0 && slices.Contains(untold, r.Findings[0].Check), !r.OK && worst < know.Error:
		return Unknown
	case r.OK:
		return Healthy
	}
	return Faulty
}
