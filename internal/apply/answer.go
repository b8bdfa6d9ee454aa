package apply

import (
	"slices"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/text"
)

// Begun says whether a step was started that changes more than the new environment
// beside the old one: what such a step left behind, only the machine can tell.
func Begun(p *plan.Plan, r Result) bool {
	return r.Generation != "" || slices.ContainsFunc(p.Steps, func(s plan.Step) bool {
		return s.Root && slices.ContainsFunc(r.Steps, func(t Took) bool { return t.Step == s.ID })
	})
}

// states name for programs what ended an apply, by exit code.
var states = map[int]string{
	fail.Failed: "failed", fail.Usage: "usage", fail.NoSolution: "nothing_fits", fail.Pending: "pending", fail.Stale: "stale_plan", fail.Privilege: "privilege_needed",
	fail.Reboot: "waiting_for_reboot", fail.Busy: "busy", fail.Preflight: "preflight_failed", fail.Integrity: "integrity", fail.Verify: "verification_failed", fail.Interrupted: "interrupted",
}

// StateOf gives an error of apply its state, where it has none yet.
func StateOf(err error, changed bool) error {
	if err == nil {
		return nil
	}
	f := *fail.Of(err)
	if f.State == "" {
		f.State, f.Changed = states[f.Code], changed
	}
	return &f
}

// An Answer is the JSON of `envfix apply`. Where it fails, the error stands in
// it with the same Changed and State.
type Answer struct {
	Format     int        `json:"format"`
	Plan       string     `json:"plan"`
	Nothing    bool       `json:"nothing"`
	Changed    bool       `json:"changed"` // the machine or the environment is not as before
	State      string     `json:"state"`   // applied, nothing, or partial: the rest follows
	Generation string     `json:"generation,omitempty"`
	Before     string     `json:"before,omitempty"`
	Own        float64    `json:"own_seconds"`
	Steps      []tookJSON `json:"steps"`

	// Imports is what came of importing what a project's sources import.
	Imports *Imports `json:"imports,omitempty"`
}

type tookJSON struct {
	ID      string  `json:"id"`
	Seconds float64 `json:"seconds"`
}

// AnswerOf is what came of a plan.
func AnswerOf(p *plan.Plan, r Result) Answer {
	answer := Answer{
		Format:     1,
		Plan:       p.ID,
		Nothing:    r.Nothing,
		Changed:    !r.Nothing,
		State:      "applied",
		Generation: r.Generation,
		Before:     r.Before,
		Own:        r.Own.Seconds(),
		Steps:      append([]tookJSON{}, text.Each(r.Steps, func(t Took) tookJSON { return tookJSON{t.Step, t.Time.Seconds()} })...),
		Imports:    r.Imports,
	}
	switch {
	case r.Nothing:
		answer.State = "nothing"
	case p.Partial:
		answer.State = "partial"
	}
	return answer
}
