package main

import (
	"fmt"

	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/probe"
	"envfix/internal/project"
	"envfix/internal/say"
	"envfix/internal/team"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/matrix"
)

// lockDrift says package by package in what an environment differs from the profile
// that the machine installs; nothing where no lock governs this directory, or where
// there is no environment yet.
func lockDrift(h machine.Machine, env string) []string {
	held := probe.Held(probeOptions(env))
	if held == nil || governing() == "" {
		return nil
	}
	p, not := lockedFor(matrixFor(), h)
	if not != nil {
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
	p, not = t.Follow(h, team.Following{})
	if not != nil {
		return nil, not
	}
	return p, nil
}
