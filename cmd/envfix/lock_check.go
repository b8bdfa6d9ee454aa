package main

import (
	"context"
	"fmt"
	"io"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/probe"
	"envfix/internal/team"
	"envfix/internal/ui"
)

// checkLock says whether the lock that governs this directory is current, and with
// --installed in what the environment differs from it.
func (f lockCall) checkLock(ctx context.Context, out io.Writer) error {
	here := machineFlags{env: f.env}
	if f.installed {
		here.looks(ctx)
	} else {
		_ = confine(ctx) // without it the answers are the same
	}
	t := teamIn(lockDir())
	old, err := t.Present()
	if err != nil {
		return err
	}
	if f.installed {
		return f.checkInstalled(ctx, t, here, out)
	}
	v, err := t.Check(ctx, f.wish, old)
	if err != nil {
		return err
	}
	text := ""
	for _, n := range v.Notes {
		text += "note: " + ui.Clean(n) + "\n"
	}
	if f.json || len(v.Stale) == 0 {
		text += fmt.Sprintf("%s is current: %s, matrix %s\n", lock.File, ui.Count(len(old.Profiles), "profile"), old.Matrix.Version)
		told := lockCheckAnswer{1, len(v.Stale) == 0, append([]string{}, v.Stale...), append([]string{}, v.Notes...)}
		return answer(out, f.json, told, text, fail.CodeIf(len(v.Stale) > 0, fail.Pending))
	}
	fmt.Fprint(out, text)
	return &fail.Error{Code: fail.Pending, Text: lock.File + " is stale", Details: v.Stale, Hints: []string{v.Cure}}
}

// checkInstalled compares the environment with the profile that this machine matches,
// or with the one that is named.
func (f lockCall) checkInstalled(ctx context.Context, t *team.Team, here machineFlags, out io.Writer) error {
	h, err := here.base(ctx)
	if err != nil {
		return err
	}
	p, err := t.Follow(h, team.Following{Profile: f.wish.Profile, Mirrors: f.wish.Mirrors, Groups: f.wish.Groups, AnyMachine: true})
	if err != nil {
		return err
	}
	have := map[string]string{}
	if held := probe.Held(probeOptions(f.env)); held != nil {
		have = versions(held)
	}
	lines := p.Packages.Drift(have).Lines()
	if f.json || len(lines) == 0 {
		told := lockHeldAnswer{1, p.Profile.Name, append([]string{}, lines...)}
		return answer(out, f.json, told, fmt.Sprintf("%s holds exactly profile %s of %s\n", ui.Clean(f.env), p.Profile.Name, lock.File),
			fail.CodeIf(len(lines) > 0, fail.Pending))
	}
	if len(have) == 0 {
		return fail.New(fail.Pending, ui.Clean(f.env)+" is not an environment yet", "`envfix lock sync` makes it")
	}
	return &fail.Error{Code: fail.Pending, Text: fmt.Sprintf("%s is not profile %s of %s", f.env, p.Profile.Name, lock.File), Details: lines,
		Hints: []string{"`envfix lock sync` makes it exactly the lock again"}}
}

// A lockCheckAnswer is the JSON of `envfix lock --check`.
type lockCheckAnswer struct {
	Format  int      `json:"format"`
	Current bool     `json:"current"`
	Stale   []string `json:"stale"`
	Notes   []string `json:"notes"`
}

// A lockHeldAnswer is the JSON of `envfix lock --check --installed`.
type lockHeldAnswer struct {
	Format  int      `json:"format"`
	Profile string   `json:"profile"`
	Differs []string `json:"differs"`
}
