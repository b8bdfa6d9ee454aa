package main

import (
	"fmt"

	"envfix/internal/describe"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/team"
	"envfix/internal/ui"
	"envfix/internal/version"
	"envfix/matrix"
)

// A lockedCase is what the lock that governs this directory says of a requirement.
type lockedCase struct {
	Profile string `json:"profile"` // that the machine installs
	Torch   string `json:"torch"`
	Build   string `json:"build"`
	Python  string `json:"python"`
	Package string `json:"package"` // that was asked about
	Version string `json:"version"` // that the lock pins of it; "" none
	Admits  bool   `json:"admits"`  // the requirement admits that version
}

// lockedFor returns the profile that the machine installs, nil where no lock governs
// this directory, or why it installs none.
func lockedFor(m *matrix.Matrix, h machine.Machine) (p *team.Chosen, not error) {
	home := governing()
	if home == "" {
		return nil, nil
	}
	t := team.Team{Dir: home, Matrix: m, Build: buildVersion, Project: projectFile}
	p, not = t.Follow(h, team.Following{})
	if not != nil {
		return nil, not
	}
	return p, nil
}

// lockedTorch is the requirement that the lock's torch stands for; on a Mac its build
// has no label.
func lockedTorch(p *lock.Profile) (pep508.Requirement, error) {
	public, _ := version.SplitLocal(p.Torch)
	if p.Match.OS == "macos" {
		return describe.Requirement("torch==" + public)
	}
	return describe.Requirement("torch==" + public + "+" + p.Build)
}

// caseOf is what the profile says of a requirement; nil without one.
func caseOf(p *team.Chosen, asked pep508.Requirement) *lockedCase {
	if p == nil {
		return nil
	}
	c := &lockedCase{Profile: p.Profile.Name, Torch: p.Profile.Torch, Build: p.Profile.Build, Python: p.Profile.Python, Package: asked.Name}
	k := p.Packages.Find(asked.Name)
	if k == nil {
		return c
	}
	c.Version = k.Version
	public, _ := version.SplitLocal(k.Version)
	v, err := version.ParsePython(public)
	c.Admits = err == nil && asked.Spec.Admits(v) && (asked.Name != "torch" || asked.Label == "" || asked.Label == c.Build)
	return c
}

// lockRow is the answer's row of the lock; not says why the machine installs no
// profile.
func lockRow(c *lockedCase, not error) [][2]string {
	switch {
	case not != nil:
		return [][2]string{{"lock", ui.Clean(not.Error())}}
	case c == nil:
		return nil
	}
	s := fmt.Sprintf("profile %s pins torch %s, build %s, Python %s: `envfix plan` installs that here", c.Profile, c.Torch, c.Build, c.Python)
	switch {
	case c.Package == "torch" && c.Admits:
	case c.Package == "torch":
		s += ", not what was asked about"
	case c.Version == "":
		s += "; it names no " + c.Package
	case c.Admits:
		s += ", and " + c.Package + " " + c.Version
	default:
		s += ", and " + c.Package + " " + c.Version + ", not what was asked about"
	}
	return [][2]string{{"lock", ui.Clean(s + "; `envfix plan --no-lock` chooses anew")}}
}
