package doctor

import (
	"envfix/internal/doctor/evidence"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/resolver"
)

// newExam is the examination of a case, whose rules ask the resolver through it.
func newExam(k *know.Knowledge, c *read.Case) *exam {
	e := &exam{evidence.New(k, c)}
	e.Fit = evidence.Fit{
		Any:   func() bool { c, _ := e.choose(); return c != nil },
		Takes: e.installable,
		Here:  e.asItIs,
	}
	return e
}

// asItIs is what planning says of this machine as it is.
func (e *exam) asItIs() evidence.Choice {
	r := e.resolve(e.Machine, resolver.Request{})
	c := evidence.Choice{Decision: string(r.Decision)}
	if r.Choice != nil {
		c.Build = r.Choice.Build
	}
	return c
}
