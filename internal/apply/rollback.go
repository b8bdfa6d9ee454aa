package apply

import (
	"errors"
	"fmt"
	"slices"

	"envfix/internal/system"
)

// keepGenerations is how many generations besides adopted ones are kept: the one
// in use and the one before it.
const keepGenerations = 2

// Rollback makes an earlier generation the environment again: id, or the one
// before the one in use. It needs no network and starts no program. It returns
// the generation that is now in use.
func (e *Env) Rollback(id string) (g Generation, err error) {
	if _, err := e.root.Lstat(stateDir); gone(err) {
		return g, &Error{Kind: Failed, Text: fmt.Sprintf("there is nothing to go back to: envfix never changed %s", e.Dir)}
	}
	if err := e.prepare(); err != nil {
		return g, wrap(err)
	}
	lock, err := system.TryLock(e.root, lockName)
	if err != nil {
		return g, wrap(err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	j, err := openJournal(e.root)
	if err != nil {
		return g, wrap(err)
	}
	defer func() { err = errors.Join(err, j.close()) }()
	back, err := e.backFromTwoRenames(j)
	if err != nil {
		return g, wrap(err)
	}
	if back != "" && (id == "" || id == back) { // a rollback that was cut off is done
		g = Generation{ID: back, Env: e.Name, Adopted: true}
		return g, wrap(j.add(Entry{State: Rolled, Env: e.Name, Gen: back}))
	}
	g, err = e.earlier(id)
	if err != nil {
		return g, err
	}
	return g, wrap(e.goBack(j, g))
}

func (e *Env) goBack(j *journal, g Generation) error {
	if err := system.Point("rollback:before-intent"); err != nil {
		return err
	}
	if err := j.add(Entry{State: Intent, Env: e.Name, Gen: g.ID, Step: "rollback"}); err != nil {
		return err
	}
	if err := system.Point("rollback:after-intent"); err != nil {
		return err
	}
	if err := e.become(j, g); err != nil {
		return err
	}
	if err := system.Point("rollback:after-effect"); err != nil {
		return err
	}
	return j.add(Entry{State: Rolled, Env: e.Name, Gen: g.ID, Plan: g.Plan, Note: g.Torch})
}

// earlier finds the generation to go back to.
func (e *Env) earlier(id string) (Generation, error) {
	gens, err := e.generations()
	if err != nil {
		return Generation{}, wrap(err)
	}
	current := e.Current()
	if id != "" {
		i := slices.IndexFunc(gens, func(g Generation) bool { return g.ID == id })
		if i < 0 {
			return Generation{}, &Error{Kind: BadPlan, Text: fmt.Sprintf("there is no generation %q", system.Printable(id)),
				Hints: []string{"`envfix history` lists them"}}
		}
		if id == current {
			return Generation{}, &Error{Kind: BadPlan, Text: fmt.Sprintf("generation %s is in use already", id)}
		}
		return gens[i], nil
	}
	i := slices.IndexFunc(gens, func(g Generation) bool { return g.ID == current })
	if i <= 0 {
		return Generation{}, &Error{Kind: Failed, Text: "there is no earlier environment to go back to",
			Hints: []string{"`envfix history` lists what there is"}}
	}
	return gens[i-1], nil
}

// collect removes generations that are neither in use nor the one to go back to.
// One that a process still uses stays until a later run; what was there before
// envfix is never removed.
func (r *run) collect() error {
	gens, err := r.env.generations()
	if err != nil {
		return err
	}
	current := r.env.Current()
	kept := 0
	for _, g := range slices.Backward(gens) {
		if g.Adopted || g.ID == current {
			continue
		}
		if kept++; kept < keepGenerations {
			continue
		}
		if pids := system.Users(r.env.path(genPath(g.ID))); len(pids) > 0 {
			r.say("kept the environment %s: process %d uses it", g.ID, pids[0])
			continue
		}
		if err := r.env.forget(g.ID); err != nil {
			return err
		}
		r.say("removed the environment %s: two newer ones are kept", g.ID)
		if err := r.journal.add(Entry{State: Collected, Env: r.env.Name, Gen: g.ID}); err != nil {
			return err
		}
	}
	return nil
}
