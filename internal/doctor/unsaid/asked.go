package unsaid

import "envfix/internal/doctor/evidence"

// asked: nothing that was found answers. Where somebody asks in words of their own, what is
// possible there, and the command that tells it apart, is all that can be said; else what a
// program says that fails is told by its kind.
func asked(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	if len(found) > 0 || !e.Pasted {
		return
	}
	for _, question := range []bool{true, false} {
		for _, p := range e.Printed {
			if p.Class == nil || p.Class.Question != question || !question && (p.Row.Program == "" || p.Warning() || !p.Ours()) {
				continue
			}
			text, ways := p.Told()
			out.Find("GPU001", evidence.Hint, p.At).Of(p.Class.Cause).Say(text).Do(ways...).As(evidence.Warning)
			return
		}
	}
}
