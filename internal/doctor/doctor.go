package doctor

import (
	"slices"

	"envfix/internal/doctor/evidence"
	"envfix/internal/doctor/know"
	"envfix/internal/machine"
	"envfix/internal/plan"
)

// Format is the number of the JSON form of a report.
const Format = 1

// Confidence and Mend are those of the rules.
type (
	Confidence = evidence.Confidence
	Mend       = evidence.Mend
)

// The confidences.
const (
	Low    = evidence.Low
	Medium = evidence.Medium
	High   = evidence.High
)

// A Finding is one thing that is wrong, or worth knowing. Its JSON form is fixed
// by the schemas of `envfix doctor` (`envfix schema doctor`).
type Finding struct {
	Cause      string        `json:"cause"` // of the vocabulary of causes, or "none"
	Check      string        `json:"check"`
	Severity   know.Severity `json:"severity"`
	Confidence Confidence    `json:"confidence"`
	Text       string        `json:"text"`
	Evidence   []string      `json:"evidence"` // "line 12: …", or a fact of this machine
	Fix        []string      `json:"fix"`      // what to do, the best first; commands in backticks
	Steps      []plan.Step   `json:"steps"`    // what `doctor --fix` would run; empty: nothing it can do
	Explains   []string      `json:"explains"` // checks that this one is the reason of

	Mend      Mend   `json:"-"`
	Elsewhere string `json:"-"` // the environment that it is about, where that is not the one that was examined; "" it is

	order int // of the evidence: where it stands
}

// A Verdict is the answer in one word.
type Verdict string

// The verdicts. Unknown: something is wrong, or may be, and what it is cannot be told
// from what could be looked at.
const (
	Healthy Verdict = "healthy"
	Faulty  Verdict = "faulty"
	Unknown Verdict = "unknown"
)

// A Report is the answer of doctor.
type Report struct {
	Format   int       `json:"format"`
	OK       bool      `json:"ok"` // no finding of severity error, and something was there to look at
	Verdict  Verdict   `json:"verdict,omitempty"`
	Findings []Finding `json:"findings"`
	Notes    []string  `json:"notes,omitempty"` // what could not be read

	// Facts are what judging stands on: seen, seen to be absent, or unknown.
	Facts []Known `json:"facts,omitempty"`

	Process *machine.Running `json:"process,omitempty"` // that --pid asks for; its environment is what was looked at
}

// Shared is a report of which every text went through share.
func Shared(r Report, share func(string) string) Report {
	all := func(in []string) []string {
		out := slices.Clone(in)
		for i := range out {
			out[i] = share(out[i])
		}
		return out
	}
	r.Notes = all(r.Notes)
	r.Facts = slices.Clone(r.Facts)
	for i := range r.Facts {
		r.Facts[i].Value, r.Facts[i].Source = share(r.Facts[i].Value), share(r.Facts[i].Source)
	}
	r.Findings = slices.Clone(r.Findings)
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Text, f.Evidence, f.Fix = share(f.Text), all(f.Evidence), all(f.Fix)
	}
	if r.Process != nil {
		p := *r.Process
		p.User, p.Command, p.Env, p.Dir, p.Exe = "", share(p.Command), share(p.Env), share(p.Dir), share(p.Exe)
		p.Group, p.Gone = "", all(p.Gone)
		r.Process = &p
	}
	return r
}
