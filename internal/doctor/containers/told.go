package containers

import (
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/version"
)

// staleCDI: a description that names what is gone breaks every container with a GPU.
func staleCDI(e *evidence.Evidence, out *evidence.Findings) {
	if e.Around == nil {
		return
	}
	d := e.Machine.Driver
	for _, s := range e.Around.CDI {
		other := false
		if v, err := version.ParseDotted(s.Driver); err == nil && d != nil && !d.Version.IsZero() {
			other = v.Compare(d.Version) != 0
		}
		switch {
		case other:
			out.Find("CTR008", evidence.Likely, evidence.Fact("%s names libraries of driver %s", s.File, s.Driver), e.From.Driver).
				Says("the CDI description %s is of driver %s, and this is %s: containers do not start with a GPU", s.File, s.Driver, d.Version).
				As(evidence.Warning)
		case len(s.Gone) > 0:
			out.Find("CTR008", evidence.Likely, evidence.Fact("%s names %s", s.File, strings.Join(s.Gone[:min(3, len(s.Gone))], " "))).
				Says("the CDI description %s names what is not there, %s first: containers do not start with a GPU", s.File, s.Gone[0]).
				As(evidence.Warning)
		}
	}
}
