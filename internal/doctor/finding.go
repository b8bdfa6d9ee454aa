package doctor

import (
	"envfix/internal/doctor/evidence"
	"envfix/internal/doctor/know"
	"envfix/internal/plan"
	"envfix/internal/text"
)

// ranked is a finding on its way into a report.
type ranked struct {
	*evidence.Finding
	explains []string
}

// whole is the finding as it is reported, with empty lists in place of absent ones, as
// its JSON form wants them.
func (f ranked) whole() Finding {
	out := Finding{Cause: f.Cause, Check: f.Check, Severity: f.Severity, Confidence: f.Confidence, Text: f.Text,
		Evidence: f.Quotes(), Fix: f.Fix, Steps: []plan.Step{}, Explains: f.explains, Mend: f.Mend, order: f.Order()}
	for _, l := range []*[]string{&out.Evidence, &out.Fix, &out.Explains} {
		if *l == nil {
			*l = []string{}
		}
	}
	return out
}

// OtherFirst: the environment that is active is not the one that PATH leads to.
func OtherFirst(active, by, what string) Finding {
	return Finding{Cause: "none", Check: "PY021", Severity: know.Warning, Confidence: High, Elsewhere: by,
		Evidence: []string{}, Steps: []plan.Step{}, Explains: []string{},
		Text: what + ": it comes before " + active + " on PATH, which is the active one",
		Fix:  []string{"`source " + text.Command(active+"/bin/activate") + "` in a new shell (conda: `conda activate`), or `" + text.Command(active+"/bin/python") + "` by its path"}}
}
