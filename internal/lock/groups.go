package lock

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/say"
	"envfix/internal/text"
)

// A Group is a dependency group or an extra of the project: it is locked, and installed
// only where it is chosen.
type Group struct {
	Name         string   `toml:"name"`            // normalised
	Extra        bool     `toml:"extra,omitempty"` // of [project.optional-dependencies]
	Requirements []string `toml:"requirements"`    // PEP 508, sorted
}

// marker is the word of PEP 751 that a package of the group has.
func (g Group) marker() string {
	return say.Either(g.Extra, fmt.Sprintf("'%s' in extras", g.Name), fmt.Sprintf("'%s' in dependency_groups", g.Name))
}

// Mark writes down which packages belong to groups alone: needs has for each group the
// names of what it needs with all that is always installed, and base those of the latter.
func (p *Packages) Mark(groups []Group, base []string, needs [][]string) {
	for i := range p.Packages {
		k := &p.Packages[i]
		if slices.Contains(base, k.Name) {
			continue
		}
		var words []string
		for j, g := range groups {
			if slices.Contains(needs[j], k.Name) {
				words = append(words, g.marker())
			}
		}
		k.Marker = strings.Join(words, " or ")
	}
	for _, g := range groups {
		if g.Extra {
			p.Extras = append(p.Extras, g.Name)
		} else {
			p.Groups = append(p.Groups, g.Name)
		}
	}
	slices.Sort(p.Extras)
	slices.Sort(p.Groups)
}

// groupWord is one word of a marker as Mark writes it.
var groupWord = lazy.Regexp(`^'([a-z0-9]+(?:-[a-z0-9]+)*)' in (extras|dependency_groups)$`)

// groups returns the names of the groups that a package belongs to; none: it is always
// installed.
func (k Package) groups() (names []string, err error) {
	if k.Marker == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(k.Marker, " or ") {
		m := groupWord().FindStringSubmatch(word)
		if m == nil {
			return nil, fmt.Errorf("marker %q", text.Clip(k.Marker, 120))
		}
		names = append(names, m[1])
	}
	return names, nil
}

// validateGroups holds the markers of packages to the groups that the file has.
func (p *Packages) validateGroups() error {
	known := slices.Concat(p.Extras, p.Groups)
	for _, k := range p.Packages {
		names, err := k.groups()
		if err != nil {
			return fmt.Errorf("package %s: %w", text.Clip(k.Name, 120), err)
		}
		for _, n := range names {
			if !slices.Contains(known, n) {
				return fmt.Errorf("package %s: the file has no group %s", text.Clip(k.Name, 120), n)
			}
		}
	}
	if p.DefaultGroups != nil {
		return errors.New("default-groups: a group is installed where it is chosen")
	}
	return nil
}

// Choose returns the packages that are installed with these groups and extras. Its
// error names one that the file does not have.
func (p *Packages) Choose(chosen []string) (*Packages, error) {
	known := slices.Concat(p.Extras, p.Groups)
	for _, c := range chosen {
		if !slices.Contains(known, c) {
			has := "it has " + cmp.Or(strings.Join(known, ", "), "none")
			return nil, fmt.Errorf("the lock has no group or extra %s; %s", text.Clip(c, 120), has)
		}
	}
	out := *p
	out.Packages, out.left = nil, nil
	for _, k := range p.Packages {
		names, _ := k.groups() // validated when it was read
		if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return slices.Contains(chosen, n) }) {
			out.Packages = append(out.Packages, k)
		} else {
			out.left = append(out.left, k.Name)
		}
	}
	return &out, nil
}
