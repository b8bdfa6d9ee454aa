package main

import (
	"envfix/internal/machine"
	"envfix/internal/project"
	"envfix/internal/team"
	"envfix/matrix"
)

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
