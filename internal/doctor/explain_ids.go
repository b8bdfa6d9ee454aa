package doctor

import (
	"strings"

	"envfix/internal/doctor/know"
)

// ExplainChecks answers for ids of checks, where the arguments are nothing else.
func ExplainChecks(k *know.Knowledge, ids []string) (Explanation, bool) {
	answer := Explanation{Format: Format, Matches: []Match{}}
	for _, id := range ids {
		check := k.Checks[strings.ToUpper(id)]
		if check == nil {
			return answer, false
		}
		answer.Matches = append(answer.Matches, Match{Checks: []string{check.ID}, Program: check.Group, Cause: check.Cause,
			Severity: check.Severity, Text: check.Text, Fix: Advice(k, check.ID), Captures: map[string]string{}, Source: check.Source})
	}
	return answer, len(ids) > 0
}

// Wrong is what an examination calls errors, or what it finds first where it is not well.
func Wrong(r Report) (wrong []string) {
	for _, x := range r.Findings {
		if x.Severity == know.Error || len(wrong) == 0 && !r.OK {
			wrong = append(wrong, x.Text)
		}
	}
	return wrong
}
