package doctor

import (
	"fmt"
	"slices"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/plan"
)

// A finding is a [Finding] on its way to be ranked.
type finding struct {
	Finding
	weight int
	over   []string // checks that it is the reason of, whatever their cause
}

// find adds a finding of a check with what the check itself says; the methods below
// say it more exactly.
func (e *exam) find(check string, weight int, at ...read.Evidence) *finding {
	c := e.k.Checks[check]
	f := Finding{Check: check, Cause: c.Cause, Text: c.Text, Fix: c.Fix, Severity: c.Severity, order: 1 << 30}
	for _, s := range at {
		if s.IsZero() {
			continue
		}
		f.order = min(f.order, s.Line)
		if text := s.String(); !slices.Contains(f.Evidence, text) {
			f.Evidence = append(f.Evidence, text)
		}
	}
	switch {
	case weight >= likely:
		f.Confidence = High
	case weight >= strong:
		f.Confidence = Medium
	}
	n := &finding{Finding: f, weight: weight}
	e.out = append(e.out, n)
	return n
}

// text says what is wrong; "" leaves what the check says.
func (f *finding) text(s string) *finding {
	if s != "" {
		f.Text = s
	}
	return f
}

// says is [finding.text] by a format.
func (f *finding) says(format string, args ...any) *finding {
	return f.text(fmt.Sprintf(format, args...))
}

// fix says what to do, the best first; nothing leaves what the check says.
func (f *finding) fix(ways ...string) *finding {
	if len(ways) > 0 {
		f.Fix = ways
	}
	return f
}

// cause is another cause than the check's; "" leaves it.
func (f *finding) cause(c string) *finding {
	if c != "" {
		f.Cause = c
	}
	return f
}

// mend is what `doctor --fix` does about it.
func (f *finding) mend(m Mend) *finding {
	f.Mend = m
	return f
}

// with takes over what a Finding says of text, fix, cause and mend.
func (f *finding) with(o Finding) *finding {
	return f.text(o.Text).fix(o.Fix...).cause(o.Cause).mend(o.Mend)
}

// explains names the checks that it is the reason of, whatever their cause.
func (f *finding) explains(checks ...string) *finding {
	f.over = checks
	return f
}

// severity is another than the check's.
func (f *finding) severity(s know.Severity) *finding {
	f.Severity = s
	return f
}

// whole is the finding with empty lists in place of absent ones, as its JSON form
// wants them.
func (f *finding) whole() Finding {
	out := f.Finding
	for _, l := range []*[]string{&out.Evidence, &out.Fix, &out.Explains} {
		if *l == nil {
			*l = []string{}
		}
	}
	if out.Steps == nil {
		out.Steps = []plan.Step{}
	}
	return out
}

// merge makes one finding of those with the same check and cause: the heaviest,
// with the evidence of all.
func merge(in []*finding) []*finding {
	var out []*finding
	for _, f := range in {
		i := slices.IndexFunc(out, func(o *finding) bool { return o.Check == f.Check && o.Cause == f.Cause })
		if i < 0 {
			out = append(out, f)
			continue
		}
		a, b := out[i], f
		if b.weight > a.weight {
			a, b = b, a
		}
		for _, ev := range b.Evidence {
			if !slices.Contains(a.Evidence, ev) && len(a.Evidence) < 6 {
				a.Evidence = append(a.Evidence, ev)
			}
		}
		a.over = append(a.over, b.over...)
		a.Mend = a.Mend.and(b.Mend)
		a.order = min(a.order, b.order)
		out[i] = a
	}
	return out
}
