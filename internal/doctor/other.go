package doctor

import (
	"envfix/internal/doctor/know"
	"envfix/internal/plan"
	"envfix/internal/text"
)

// OtherFirst: the environment that is active is not the one that PATH leads to.
func OtherFirst(active, by, what string) Finding {
	return Finding{Cause: "none", Check: "PY021", Severity: know.Warning, Confidence: High, Elsewhere: by,
		Evidence: []string{}, Steps: []plan.Step{}, Explains: []string{},
		Text: what + ": it comes before " + active + " on PATH, which is the active one",
		Fix:  []string{"`source " + text.Command(active+"/bin/activate") + "` in a new shell, or `" + text.Command(active+"/bin/python") + "` by its path"}}
}
