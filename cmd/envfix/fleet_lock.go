package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/fleet"
	"envfix/internal/lock"
	"envfix/internal/say"
	"envfix/internal/team"
	"envfix/internal/ui"
	"envfix/matrix"
)

// A fleetLock is what `envfix fleet plan --lock` wrote.
type fleetLock struct {
	team.Result
	targets []team.FleetTarget
}

// A lockedProfile is a profile of a fleet's lock and its machines.
type lockedProfile struct {
	Name   string   `json:"name"`
	Torch  string   `json:"torch"`
	Build  string   `json:"build"`
	Python string   `json:"python"`
	Hosts  []string `json:"hosts"`
}

// writeLock makes the lock of a plan's groups. The targets that the plan does not have
// are dropped: a machine could follow one of them instead of its group.
func (f fleetFlags) writeLock(ctx context.Context, m *matrix.Matrix, p *fleet.Plan) (*fleetLock, error) {
	if len(p.Groups) == 0 {
		return nil, fail.New(fail.NoSolution, "no group has an answer: there is nothing to lock")
	}
	targets, err := team.FleetTargets(m, p)
	if err != nil {
		return nil, err
	}
	t := teamIn(".")
	old, err := t.Read()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fail.Wrap(fail.Usage, err, "`envfix lock` writes it anew")
	}
	wish := team.Wish{Requirements: f.wish.Arguments, Files: f.wish.Files, Offline: f.offline, UpgradeMatrix: true}
	if wish.Mirrors, err = mirrorFlags(f.mirrors); err != nil {
		return nil, err
	}
	have, err := t.Targets()
	if err != nil {
		return nil, err
	}
	for _, k := range targets {
		k.Facts += say.With(" index=", f.wish.OnlyIndex, "")
		wish.Targets = append(wish.Targets, k.Target)
		delete(have, k.Name)
	}
	wish.DropTargets = slices.Sorted(maps.Keys(have))
	r, err := t.Lock(ctx, wish, old)
	if err != nil {
		return nil, err
	}
	r.Notes = append(r.Notes, team.Strayed(r.Lock, targets)...)
	return &fleetLock{*r, targets}, nil
}

// profiles are the profiles of the lock with their machines.
func (k *fleetLock) profiles() []lockedProfile {
	var out []lockedProfile
	for _, t := range k.targets {
		p, err := k.Lock.Profile(t.Name)
		if err != nil {
			continue // cannot be: it was just written
		}
		l := lockedProfile{Name: p.Name, Torch: p.Torch, Build: p.Build, Python: p.Python}
		for _, m := range t.Members {
			l.Hosts = append(l.Hosts, m.Hosts...)
		}
		slices.Sort(l.Hosts)
		out = append(out, l)
	}
	return out
}

// text says what was locked.
func (k *fleetLock) text() string {
	var b strings.Builder
	b.WriteString("\n" + ui.Locked(&k.Result))
	fmt.Fprintf(&b, "who follows which profile of %s:\n", lock.File)
	for _, p := range k.profiles() {
		b.WriteString(ui.Hang(fmt.Sprintf("  %-12s %-6d", p.Name, len(p.Hosts)), ui.Hosts(p.Hosts)))
	}
	return b.String()
}
