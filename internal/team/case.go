package team

import (
	"envfix/internal/describe"
	"envfix/internal/lock"
	"envfix/internal/pep508"
	"envfix/internal/version"
)

// A LockedCase is what the lock that governs this directory says of a requirement.
type LockedCase struct {
	Profile string `json:"profile"` // that the machine installs
	Torch   string `json:"torch"`
	Build   string `json:"build"`
	Python  string `json:"python"`
	Package string `json:"package"` // that was asked about
	Version string `json:"version"` // that the lock pins of it; "" none
	Admits  bool   `json:"admits"`  // the requirement admits that version
}

// TorchOf is the requirement that the lock's torch stands for; on a Mac its build
// has no label.
func TorchOf(p *lock.Profile) (pep508.Requirement, error) {
	public, _ := version.SplitLocal(p.Torch)
	if p.Match.OS == "macos" {
		return describe.Requirement("torch==" + public)
	}
	return describe.Requirement("torch==" + public + "+" + p.Build)
}

// CaseOf is what the profile says of a requirement; nil without one.
func CaseOf(p *Chosen, asked pep508.Requirement) *LockedCase {
	if p == nil {
		return nil
	}
	c := &LockedCase{Profile: p.Profile.Name, Torch: p.Profile.Torch, Build: p.Profile.Build, Python: p.Profile.Python, Package: asked.Name}
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
