package team

import (
	"cmp"
	"maps"
	"slices"

	"envfix/internal/describe"
	"envfix/internal/lock"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// A Row is one package in the profiles of a lock: which have which version.
type Row struct {
	Package  string              `json:"package"`
	Versions map[string][]string `json:"versions"` // version → profiles; "" those without it
}

// Compare returns the packages in which the profiles differ, and the names and
// versions of those that all have alike.
func (t *Team) Compare(l *lock.Lock) (differ []Row, same []string, err error) {
	rows := map[string]map[string][]string{}
	for i := range l.Profiles {
		p := &l.Profiles[i]
		k, err := t.Packages(p)
		if err != nil {
			return nil, nil, err
		}
		for _, q := range k.Packages {
			if rows[q.Name] == nil {
				rows[q.Name] = map[string][]string{}
			}
			v := cmp.Or(q.Version, "of this project")
			rows[q.Name][v] = append(rows[q.Name][v], p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		have := slices.Concat(slices.Collect(maps.Values(rows[name]))...)
		rows[name][""] = append(rows[name][""], xslices.Filter(l.Names(), func(p string) bool { return !slices.Contains(have, p) })...)
		if len(rows[name]) > 1 {
			differ = append(differ, Row{name, rows[name]})
			continue
		}
		for v := range rows[name] {
			same = append(same, name+" "+v)
		}
	}
	return differ, same, nil
}

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
	return describe.Requirement("torch==" + public + say.If(p.Match.OS != "macos", "+"+p.Build))
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
	c.Admits = asked.Spec.Admits(version.Public(k.Version)) && (asked.Name != "torch" || asked.Label == "" || asked.Label == c.Build)
	return c
}
