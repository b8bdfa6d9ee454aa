package evidence

import (
	"cmp"
	"fmt"
	"slices"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/text"
)

// A Finding is what a rule says: a check, what it stands on, and how well that proves
// it. What it leaves empty of cause, text, fix and severity the check itself says.
type Finding struct {
	Check string
	Proof Proof
	At    []read.Evidence

	Cause string
	Text  string
	Fix   []string // what to do, the best first
	Mend  Mend     // what `doctor --fix` does about it
	Over  []string // checks that it is the reason of, whatever their cause

	Places map[string][]string // what to do on windows, macos, wsl and in a container, where it is another

	Severity   know.Severity
	Confidence Confidence

	first   int      // the line of a finding that it was merged with, where its evidence was cut
	graded  bool     // the severity is the rule's own
	worded  bool     // it says more than its check
	instead *Finding // it says this one anew
}

// Say says what is wrong; "" leaves what the check says.
func (f *Finding) Say(text string) *Finding {
	f.Text = cmp.Or(text, f.Text)
	return f
}

// Says is [Finding.Say] by a format.
func (f *Finding) Says(format string, args ...any) *Finding {
	return f.Say(fmt.Sprintf(format, args...))
}

// Do says what to do, the best first; nothing leaves what the check says.
func (f *Finding) Do(ways ...string) *Finding {
	if len(ways) > 0 {
		f.Fix, f.Places = ways, nil
	}
	return f
}

// In is what to do by place, where it is another than what [Finding.Do] says.
func (f *Finding) In(places map[string][]string) *Finding {
	f.Places = places
	return f
}

// Of is another cause than the check's; "" leaves it.
func (f *Finding) Of(cause string) *Finding {
	f.Cause = cmp.Or(cause, f.Cause)
	return f
}

// Mends is what `doctor --fix` does about it.
func (f *Finding) Mends(m Mend) *Finding {
	f.Mend = m
	return f
}

// Explaining names the checks that it is the reason of, whatever their cause.
func (f *Finding) Explaining(checks ...string) *Finding {
	f.Over = checks
	return f
}

// As is another severity than the check's.
func (f *Finding) As(s know.Severity) *Finding {
	f.Severity, f.graded = s, true
	return f
}

// complete takes from the check what the finding does not say.
func (f *Finding) complete(c *know.Check) {
	f.worded = f.worded || f.Text != "" && f.Text != c.Text
	f.Cause, f.Text = cmp.Or(f.Cause, c.Cause), cmp.Or(f.Text, c.Text)
	if len(f.Fix) == 0 {
		f.Fix, f.Places = c.Fix, c.Places
	}
	if !f.graded {
		f.As(c.Severity)
	}
	if f.Proof >= Likely || slices.Contains(c.Over, know.Everything) {
		f.Over = slices.Concat(f.Over, c.Over)
	}
}

// Findings is what a rule answers: what it found, and what of others it takes back.
type Findings struct {
	found  []*Finding
	denied []func(*Finding) bool
}

// Find adds a finding of a check with what the check itself says; the methods of
// [Finding] say it more exactly. An empty evidence is left out.
func (o *Findings) Find(check string, p Proof, at ...read.Evidence) *Finding {
	f := &Finding{Check: check, Proof: p, Confidence: p.confidence()}
	f.see(at, len(at))
	o.found = append(o.found, f)
	return f
}

// see adds what the finding stands on, each once, until there are most.
func (f *Finding) see(at []read.Evidence, most int) {
	for _, s := range at {
		same := func(o read.Evidence) bool { return o.String() == s.String() }
		if !s.IsZero() && len(f.At) < most && !slices.ContainsFunc(f.At, same) {
			f.At = append(f.At, s)
		}
	}
}

// Order is where in the text it stands: the first line of what it stands on.
func (f *Finding) Order() int {
	order := cmp.Or(f.first, 1<<30)
	for _, s := range f.At {
		order = min(order, s.Line)
	}
	return order
}

// Quotes are what it stands on, as people read it.
func (f *Finding) Quotes() []string {
	return text.Each(f.At, func(s read.Evidence) string { return s.String() })
}

// Merge makes one finding of those with the same check and cause: the one with the
// best proof, of equal ones that which says more than its check, with the evidence of all.
func (all Found) Merge() (out Found) {
	const most = 6 // lines of evidence that somebody reads
	for _, f := range all {
		i := slices.IndexFunc(out, func(o *Finding) bool { return o.Check == f.Check && o.Cause == f.Cause })
		if i < 0 {
			out = append(out, f)
			continue
		}
		a, b := out[i], f
		if b.Proof > a.Proof || b.Proof == a.Proof && b.worded && !a.worded {
			a, b = b, a
		}
		a.first = min(a.Order(), b.Order())
		a.see(b.At, most)
		a.Over = append(a.Over, b.Over...)
		a.Mend = a.Mend.And(b.Mend)
		out[i] = a
	}
	return out
}

// Anew is a finding of another rule to be said in other words.
func (o *Findings) Anew(f *Finding) *Finding {
	n := *f
	n.instead = f
	o.found = append(o.found, &n)
	return &n
}

// Deny takes back what others found of these checks: a fact that says that all is well
// ends what was read into another.
func (o *Findings) Deny(checks ...string) {
	o.denied = append(o.denied, func(f *Finding) bool { return slices.Contains(checks, f.Check) })
}

// DenyPlain takes back findings that say no more than their check does.
func (o *Findings) DenyPlain(k *know.Check) {
	o.denied = append(o.denied, func(f *Finding) bool { return f.Check == k.ID && f.Text == k.Text })
}

// DenyAt takes back what was read into one line alone.
func (o *Findings) DenyAt(at read.Evidence, checks ...string) {
	o.denied = append(o.denied, func(f *Finding) bool {
		return slices.Contains(checks, f.Check) && len(f.At) == 1 && f.At[0] == at
	})
}

// Found is what was found so far; a rule that is asked after the others reads it.
type Found []*Finding

// Of are the findings of a check.
func (all Found) Of(checks ...string) Found {
	return slices.DeleteFunc(slices.Clone(all), func(f *Finding) bool { return !slices.Contains(checks, f.Check) })
}

// Any reports whether there is one that is so.
func (all Found) Any(is func(*Finding) bool) bool { return slices.ContainsFunc(all, is) }

// Quiet reports whether nothing was found that is wrong.
func (all Found) Quiet() bool {
	return !all.Any(func(f *Finding) bool { return f.Severity > know.Note && f.Proof >= Weak })
}

// With is all that was found once a rule answered.
func (all Found) With(o Findings, k *know.Knowledge) Found {
	all = slices.Clone(all)
	for _, denied := range o.denied {
		all = slices.DeleteFunc(all, denied)
	}
	for _, f := range o.found {
		f.complete(k.Checks[f.Check])
		if i := slices.Index(all, f.instead); i >= 0 {
			all[i] = f
		} else if f.instead == nil {
			all = append(all, f)
		}
	}
	return all
}
