package apply

import (
	"cmp"
	"errors"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
)

// A History is what was done with an environment.
type History struct {
	Format      int          `json:"format"`
	Env         string       `json:"env"`
	Current     string       `json:"current"` // generation in use; "" none of ours
	Logs        string       `json:"logs"`    // directory of the steps' output
	Events      []Event      `json:"events"`  // oldest first
	Generations []Generation `json:"generations"`
}

// An Event is one thing that was done, or that was begun and did not end.
type Event struct {
	Time  string `json:"time"`            // it began; RFC 3339, UTC
	Ended string `json:"ended,omitempty"` // "" where it did not, or at once
	What  string `json:"what"`            // apply, rollback, collect
	State string `json:"state"`           // done, failed, waiting, abandoned, running, cut off
	Plan  string `json:"plan,omitempty"`
	Gen   string `json:"generation,omitempty"`
	Step  string `json:"step,omitempty"` // where it failed or waits
	Note  string `json:"note,omitempty"`
}

// History reads the journal; it changes nothing and takes no lock.
func (e *Env) History() (History, error) {
	h := History{Format: 1, Env: e.Dir, Current: e.Current(), Logs: e.path(logsDir), Events: []Event{}, Generations: []Generation{}}
	entries, _, _, err := readJournal(e.root)
	if err != nil {
		return h, err
	}
	h.Events = append(h.Events, events(entries, e.Name)...)
	if n := len(h.Events) - 1; n >= 0 && h.Events[n].State == "cut off" && system.Held(e.root, lockName) {
		h.Events[n].State = "running"
	}
	gens, err := e.generations()
	h.Generations = append(h.Generations, gens...)
	return h, Wrap(err)
}

// events folds the journal's lines into what was done.
func events(entries []Entry, env string) (out []Event) {
	open := -1
	for _, e := range entries {
		if e.Env != env {
			continue
		}
		switch e.State {
		case Begin:
			if n := len(out) - 1; n >= 0 && out[n].State == "waiting" && out[n].Plan == e.Plan { // it goes on
				out[n].State, out[n].Step, out[n].Gen = "cut off", "", e.Gen
			} else {
				out = append(out, Event{Time: e.Time, What: "apply", State: "cut off", Plan: e.Plan, Gen: e.Gen, Note: e.Note})
			}
			open = len(out) - 1
		case Rolled:
			out = append(out, Event{Time: e.Time, What: "rollback", State: "done", Gen: e.Gen, Note: e.Note})
		case Collected:
			out = append(out, Event{Time: e.Time, What: "collect", State: "done", Gen: e.Gen})
		}
		if open < 0 {
			continue
		}
		at := &out[open]
		at.State = cmp.Or(map[State]string{End: "done", Failure: "failed", Waiting: "waiting", Abandoned: "abandoned"}[e.State], at.State)
		switch e.State {
		case Intent, Waiting, Failure, End: // the last is of no step
			at.Step = e.Step
		}
		if e.State == Failure {
			at.Note = e.Note
		}
		if ended(e.State) {
			if e.State != Recovered { // that is when it was found, not when it ended
				out[open].Ended = e.Time
			}
			open = -1
		}
	}
	return out
}

// Unfinished returns the plan that was begun and neither ended nor given up; nil
// where there is none.
func (e *Env) Unfinished() (*plan.Plan, error) {
	entries, _, _, err := readJournal(e.root)
	open := (&journal{entries: entries}).unfinished(e.Name)
	if err != nil || open == nil {
		return nil, err
	}
	text, err := e.root.ReadFile(planPath(open.Plan))
	if err != nil {
		return nil, Wrap(err)
	}
	p, err := plan.Decode(text)
	if err != nil {
		return nil, &fail.Error{Code: fail.Integrity, Text: e.path(planPath(open.Plan)) + ": " + err.Error(), Err: err,
			Hints: []string{"`envfix apply --abandon` gives the plan up"}}
	}
	return p, nil
}

// Abandon gives up the plan that was begun and not ended, and puts a damaged
// journal aside. It reports whether there was something to give up.
func (e *Env) Abandon() (did bool, err error) {
	if _, err := e.root.Lstat(stateDir); gone(err) {
		return false, nil
	}
	j, end, err := e.begin()
	var bad *fail.Error
	if errors.As(err, &bad) && bad.Code == fail.Integrity {
		did = true
		if err = errors.Join(setAside(e.root), end()); err == nil {
			j, end, err = e.begin()
		}
	}
	defer func() { err = errors.Join(err, end()) }()
	if err != nil {
		return did, Wrap(err)
	}
	if open := j.unfinished(e.Name); open != nil {
		did = true
		if err := j.add(Entry{State: Abandoned, Plan: open.Plan, Env: e.Name, Gen: open.Gen}); err != nil {
			return did, Wrap(err)
		}
	}
	_, err = e.recover(j)
	return did, Wrap(err)
}
