// Package doctor finds what is wrong: with a machine and its environment, or
// with what somebody pasted. It reads nothing itself; it is given facts and text
// and returns findings, the root cause first.
//
// Three rooms: internal/doctor/read turns text or a machine into a [read.Case],
// internal/doctor/know holds what is known of ailments, and this package judges.
package doctor

import (
	"slices"

	"envfix/internal/doctor/know"
	"envfix/internal/machine"
	"envfix/internal/plan"
)

// Format is the number of the JSON form of a report.
const Format = 1

// A Confidence is how sure a finding is.
type Confidence int

// The confidences: a symptom alone, a message that names its cause, facts that
// leave no other.
const (
	Low Confidence = iota
	Medium
	High
)

func (c Confidence) String() string { return []string{"low", "medium", "high"}[c] }

// MarshalText writes low, medium or high.
func (c Confidence) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

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

	Mend Mend `json:"-"`

	order int // of the evidence: where it stands
}

// A Mend is what of a finding an environment built anew mends, or its activate
// script. The zero Mend: neither does; another plan may, or a person.
type Mend struct {
	Rebuild bool          // the same packages, installed anew
	Fetch   []string      // of these the installer's cache may be broken too: it links to the same files
	Fixes   []plan.EnvFix // of variables, where the environment is active
}

// IsZero reports whether nothing of the finding is mended so.
func (m Mend) IsZero() bool { return !m.Rebuild && len(m.Fixes) == 0 }

// and is what mends either; whether that was enough, the next examination says.
func (m Mend) and(o Mend) Mend {
	return Mend{
		Rebuild: m.Rebuild || o.Rebuild, Fetch: slices.Concat(m.Fetch, o.Fetch),
		Fixes: slices.Concat(m.Fixes, o.Fixes),
	}
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
