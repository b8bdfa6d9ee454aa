package unsaid

import "envfix/internal/doctor/evidence"

// asked: somebody asks in words of their own, and nothing that was found answers. What is
// possible there, and the command that tells it apart, is all that can be said.
func asked(e *evidence.Evidence, found evidence.Found) (out evidence.Findings) {
	if len(found) > 0 || !e.Pasted {
		return
	}
	for _, p := range e.Printed {
		if p.Class != nil && p.Class.Question {
			out.Find("GPU001", evidence.Hint, p.At).Of(p.Class.Cause).Say(p.Class.Text).Do(p.Class.Fix...).As(evidence.Warning)
			return
		}
	}
	return
}
