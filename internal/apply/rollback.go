package apply

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"envfix/internal/fail"
	"envfix/internal/system"
	"envfix/internal/text"
)

// Rollback makes an earlier generation the environment again: id, or the one
// before the one in use. It needs no network and starts no program. It returns
// the generation that is now in use.
func (e *Env) Rollback(id string) (g Generation, err error) {
	if _, err := e.root.Lstat(stateDir); gone(err) {
		return g, &fail.Error{Code: fail.Failed, Text: fmt.Sprintf("there is nothing to go back to: envfix never changed %s", e.Dir)}
	}
	j, end, err := e.begin()
	defer func() { err = errors.Join(err, end()) }()
	if err != nil {
		return g, Wrap(err)
	}
	back, err := e.backFromTwoRenames(j)
	if err != nil {
		return g, Wrap(err)
	}
	if back != "" && (id == "" || id == back) { // a rollback that was cut off is done
		g = Generation{ID: back, Env: e.Name, Adopted: true}
		return g, Wrap(j.add(Entry{State: Rolled, Env: e.Name, Gen: back}))
	}
	g, err = e.earlier(j, id)
	if err != nil {
		return g, err
	}
	return g, Wrap(e.goBack(j, g))
}

func (e *Env) goBack(j *journal, g Generation) error {
	return inOrder(
		point("rollback:before-intent"),
		func() error { return j.add(Entry{State: Intent, Env: e.Name, Gen: g.ID, Step: "rollback"}) },
		point("rollback:after-intent"),
		func() error { return e.become(j, g) },
		point("rollback:after-effect"),
		func() error { return j.add(Entry{State: Rolled, Env: e.Name, Gen: g.ID, Plan: g.Plan, Note: g.Torch}) })
}

// earlier finds the generation to go back to: the one that was in use before, and
// where the journal does not tell, the one that is next older.
func (e *Env) earlier(j *journal, id string) (Generation, error) {
	gens, err := e.generations()
	if err != nil {
		return Generation{}, Wrap(err)
	}
	current := e.Current()
	if id != "" {
		i := slices.IndexFunc(gens, func(g Generation) bool { return g.ID == id })
		if i < 0 {
			return Generation{}, &fail.Error{Code: fail.Usage, Text: fmt.Sprintf("there is no generation %q", text.Printable(id)),
				Hints: []string{"`envfix history` lists them"}}
		}
		if id == current {
			return Generation{}, &fail.Error{Code: fail.Usage, Text: fmt.Sprintf("generation %s is in use already", id)}
		}
		return gens[i], nil
	}
	if before := j.usedBefore(e.Name, current); before != "" {
		if i := slices.IndexFunc(gens, func(g Generation) bool { return g.ID == before }); i >= 0 {
			return gens[i], nil
		}
	}
	i := slices.IndexFunc(gens, func(g Generation) bool { return g.ID == current })
	if i <= 0 {
		return Generation{}, &fail.Error{Code: fail.Failed, Text: "there is no earlier environment to go back to",
			Hints: []string{"`envfix history` lists what there is"}}
	}
	return gens[i-1], nil
}

// usedBefore returns the generation that was in use before the current one; "" the
// journal does not tell. A rollback takes back what came after its generation, so
// that the next one goes further back.
func (j *journal) usedBefore(env, current string) string {
	var used []string
	for _, e := range j.entries {
		if e.Env != env || e.State != Switched && e.State != Rolled {
			continue
		}
		if i := slices.Index(used, e.Gen); e.State == Rolled && i >= 0 {
			used = used[:i]
		}
		used = append(used, e.Gen)
	}
	if n := len(used); n > 1 && used[n-1] == current {
		return used[n-2]
	}
	return ""
}

// collect removes generations that are neither in use nor the one to go back to.
// One that a process still uses stays until a later run; what was there before
// envfix is never removed.
func (r *run) collect() error {
	gens, err := r.env.generations()
	if err != nil {
		return err
	}
	current, before := r.env.Current(), r.result.Before
	for _, g := range slices.Backward(gens) {
		if g.Adopted || g.ID == current {
			continue
		}
		before = cmp.Or(before, g.ID) // nothing was in use: the newest is what there was last
		if g.ID == before {
			continue
		}
		said, gone := r.env.release(r.journal, g)
		if said != "" {
			r.say("%s", said)
		}
		if gone != nil {
			return gone
		}
	}
	return nil
}

// release removes a generation that is not in use, and says what became of it: one that a
// process still uses stays.
func (e *Env) release(j *journal, g Generation) (said string, err error) {
	switch pids := system.Users(e.path(genPath(g.ID))); {
	case len(pids) > 0:
		return fmt.Sprintf("kept the environment %s: process %d uses it", g.ID, pids[0]), nil
	case !system.SeesProcesses():
		return fmt.Sprintf("kept the environment %s: /proc does not show the processes, and one may use it", g.ID), nil
	}
	if err := e.forget(g.ID); err != nil {
		return e.stays(g.ID, err), nil // what was asked for is done all the same
	}
	return "removed the environment " + g.ID, j.add(Entry{State: Collected, Env: e.Name, Gen: g.ID})
}

// Left are the generations that are not in use, with what removing all of them frees: a
// file that has other links stays.
func (e *Env) Left() (gens []Generation, frees int64, err error) {
	all, err := e.generations()
	seen := map[any]int{}
	for _, g := range all {
		if g.ID == e.Current() || g.Adopted {
			continue
		}
		gens = append(gens, g)
		err = errors.Join(err, fs.WalkDir(e.root.FS(), genPath(g.ID), func(_ string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			info, err := d.Info()
			if err == nil {
				frees += system.Frees(info, seen)
			}
			return err
		}))
	}
	return gens, frees, Wrap(err)
}

// Clean removes the generations that are not in use, and says what became of each.
func (e *Env) Clean() (said []string, err error) {
	j, end, err := e.begin()
	defer func() { err = errors.Join(err, end()) }()
	gens, _, err2 := e.Left()
	if err = errors.Join(err, err2); err != nil {
		return nil, Wrap(err)
	}
	for _, g := range gens {
		line, err := e.release(j, g)
		if err != nil {
			return said, Wrap(err)
		}
		said = append(said, line)
	}
	return said, nil
}
