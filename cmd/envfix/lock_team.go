package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/probe"
	"envfix/internal/project"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/team"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/matrix"
	"envfix/resolver"
)

// teamIn is the team whose lock lies, or shall lie, in dir.
func teamIn(dir string) *team.Team {
	return &team.Team{Dir: dir, Matrix: matrixFor(), Build: buildVersion, Tools: system.ToolsDir(), Describe: describeTarget,
		Project: project.Read, Pythons: sync.OnceValue(pythonsHere),
		Tell: func(line string) { fmt.Fprintln(stderr(), ui.Clean(line)) }}
}

// pythonsHere are the Pythons of this machine for a machine that is described: the
// active environment's alone, else all.
func pythonsHere() []machine.Python {
	var out []machine.Python
	for _, p := range thisMachine(context.Background(), "", false).Pythons {
		one := machine.Python{Version: p.Version, FreeThreaded: p.FreeThreaded}
		if p.Active {
			return []machine.Python{one}
		}
		out = append(out, one)
	}
	return out
}

// describeTarget puts a target's description onto a machine, and reads what it
// wishes.
func describeTarget(h machine.Machine, facts map[string]string) (machine.Machine, resolver.Request, error) {
	d := describe.Machine{Driver: facts["driver"], OS: facts["os"], Arch: facts["arch"], Libc: facts["libc"]}
	if gpu := facts["gpu"]; gpu != "" && gpu != "none" {
		d.GPUs = strings.Split(gpu, ",")
	}
	if err := d.Override(&h); err != nil {
		return h, resolver.Request{}, err
	}
	wish := project.Wish{Request: describe.Request{
		Python: facts["python"], CUDA: facts["cuda"], Build: facts["build"], OnlyIndex: facts["index"], Channel: facts["channel"],
	}}
	r, err := wish.AsRequest(true, today(), policyHere)
	return h, r, err
}

// lockTargets reads --facts and --target.
func lockTargets(facts, pairs []string) ([]lock.Target, error) {
	var machines []machine.Machine
	for _, path := range facts {
		h, err := readFacts(path)
		if err != nil {
			return nil, err
		}
		machines = append(machines, h)
	}
	out := team.Classes(machines)
	for _, pair := range pairs {
		name, facts, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fail.Wrong(fmt.Sprintf("the target `%s` has no description", text.Refused(pair)),
				`write NAME="…" in one word: v100="gpu=V100 driver=580 os=linux python=3.12"`)
		}
		name = strings.TrimSpace(name)
		if slices.ContainsFunc(out, func(t lock.Target) bool { return t.Name == name }) {
			return nil, fail.Wrong(fmt.Sprintf("two targets are called %s", ui.Clean(name)))
		}
		out = append(out, lock.Target{Name: name, Facts: strings.Trim(facts, `"`)})
	}
	return out, nil
}

// lockDrift says package by package in what an environment differs from the profile
// that the machine installs; nothing where no lock governs this directory, or where
// there is no environment yet.
func lockDrift(h machine.Machine, env string) []string {
	p, not := lockedFor(matrixFor(), h)
	if p == nil && not == nil {
		return nil // and every file of the environment is not asked for
	}
	held := probe.Held(probeOptions(env))
	switch {
	case held == nil:
		return nil
	case not != nil:
		return []string{not.Error()}
	}
	out := text.Each(say.Few(p.Packages.Drift(versions(held)).Lines(), 8, "and %d more"), func(line string) string {
		return fmt.Sprintf("%s and profile %s of %s differ: %s", env, p.Profile.Name, lock.File, ui.Clean(line))
	})
	if len(out) > 0 {
		out = append(out, "`envfix lock sync` makes it exactly the lock again")
	}
	return out
}

// versions are the packages of an environment by name.
func versions(held *machine.Held) map[string]string {
	have := map[string]string{}
	for _, d := range held.Dists {
		have[d.Name] = d.Version
	}
	return have
}

// lockedFor returns the profile that the machine installs, nil where no lock governs
// this directory, or why it installs none.
func lockedFor(m *matrix.Matrix, h machine.Machine) (p *team.Chosen, not error) {
	home := governing()
	if home == "" {
		return nil, nil
	}
	t := team.Team{Dir: home, Matrix: m, Build: buildVersion, Project: project.Read}
	return t.Follow(h, team.Following{})
}
