package lock

import (
	"fmt"
	"maps"
	"slices"

	"envfix/internal/text"
	"envfix/internal/version"
)

// A Drift is in what an environment differs from a profile's packages.
type Drift struct {
	Missing []string // name and locked version
	Changed []string // "numpy 2.3.0, the lock has 2.4.0"
	Extra   []string // name and version of what the lock does not name

	Unchosen []string // name and version of what is of groups that were not chosen
}

// seeds are packages that every new environment may have by itself.
var seeds = []string{"pip", "setuptools", "wheel"}

// Drift compares what an environment has, version by normalised name, with the
// packages. Local labels do not count: indexes name the same build with and without.
func (p *Packages) Drift(have map[string]string) Drift {
	var d Drift
	for _, k := range p.Packages {
		v, there := have[k.Name]
		was, _ := version.SplitLocal(v)
		want, _ := version.SplitLocal(k.Version)
		switch {
		case !there:
			d.Missing = append(d.Missing, fmt.Sprintf("%s %s", k.Name, k.Version))
		case want != "" && was != want:
			d.Changed = append(d.Changed, fmt.Sprintf("%s %s, the lock has %s", k.Name, v, k.Version))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		switch {
		case slices.Contains(p.left, name):
			d.Unchosen = append(d.Unchosen, fmt.Sprintf("%s %s", name, have[name]))
		case p.Find(name) == nil && !slices.Contains(seeds, name):
			d.Extra = append(d.Extra, fmt.Sprintf("%s %s", name, have[name]))
		}
	}
	return d
}

// Differs reports whether a locked package is missing or has another version.
func (d Drift) Differs() bool { return len(d.Missing)+len(d.Changed) > 0 }

// Lines says it package by package.
func (d Drift) Lines() []string {
	missing := text.Each(d.Missing, func(m string) string { return m + " is missing" })
	return slices.Concat(missing, d.Changed, d.Extras())
}

// More reports whether more is installed than the lock and the chosen groups name.
func (d Drift) More() bool { return len(d.Extra)+len(d.Unchosen) > 0 }

// Extras says which packages the lock or the chosen groups do not name.
func (d Drift) Extras() []string {
	return append(
		text.Each(d.Extra, func(e string) string { return e + " is installed, and the lock does not name it" }),
		text.Each(d.Unchosen, func(e string) string {
			return e + " is installed, of a group that is not chosen: `--group NAME` chooses one"
		})...)
}
