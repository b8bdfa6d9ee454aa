package team

import (
	"errors"
	"fmt"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// A Chosen is the profile that a machine installs.
type Chosen struct {
	Profile      *lock.Profile
	Packages     *lock.Packages
	Why          string // why this one of several that fit; "" it alone does
	DefaultIndex string // that the team's files name in place of the installer's default
}

// Follow returns the profile of the team's lock that a machine is to install and its
// packages: the best that it matches, or name's where it meets that one's conditions.
func (t *Team) Follow(h machine.Machine, name string, mirrors Mirrors) (*Chosen, error) {
	l, err := t.Present()
	if err != nil {
		return nil, err
	}
	if err := t.readable(l); err != nil {
		return nil, err
	}
	p, why, err := pick(l, h, name)
	if err != nil {
		return nil, err
	}
	k, err := t.bound(l, p, mirrors)
	return &Chosen{p, k, why, l.Input.DefaultIndex}, err
}

// readable refuses a lock that a newer envfix wrote.
func (t *Team) readable(l *lock.Lock) error {
	least, err := version.ParseDotted(strings.TrimPrefix(l.RequiresEnvfix, ">="))
	have, herr := version.ParseDotted(Release(t.Build))
	if err != nil || herr != nil || have.Less(least) {
		return &fail.Error{Code: fail.Usage, Text: fmt.Sprintf("%s needs envfix %s, and this is %s", lock.File, clean(l.RequiresEnvfix), Release(t.Build))}
	}
	return nil
}

// pick returns the best profile that the machine matches, or the named one where the
// machine meets its conditions.
func pick(l *lock.Lock, h machine.Machine, name string) (*lock.Profile, string, error) {
	if name != "" {
		p, err := l.Profile(name)
		if err != nil {
			return nil, "", failed(fail.Usage, err)
		}
		faults := p.Match.Check(h)
		if len(faults) == 0 {
			return p, "", nil
		}
		f := &fail.Error{Code: fail.NoSolution, Text: fmt.Sprintf("this machine is not what profile %s is for", p.Name)}
		for _, m := range faults {
			f.Details = append(f.Details, m.String())
		}
		f.Hints = driverHint(faults, p)
		return nil, "", f
	}
	p, why, err := l.Pick(h)
	var none *lock.PickError
	if !errors.As(err, &none) {
		return p, why, err
	}
	f := &fail.Error{Code: fail.NoSolution, Text: none.Text, Details: none.Details, Err: err}
	for i := range l.Profiles {
		if faults := l.Profiles[i].Match.Check(h); f.Hints == nil {
			f.Hints = driverHint(faults, &l.Profiles[i])
		}
	}
	f.Hints = append(f.Hints, "`envfix plan --no-lock` shows what this machine could run", "`envfix lock target add NAME=\"…\"` adds a kind of machine")
	return nil, "", f
}

// driverHint is the way out where the driver alone keeps a machine from a profile.
func driverHint(faults []lock.Mismatch, p *lock.Profile) []string {
	if len(faults) != 1 || faults[0].Condition != "driver" {
		return nil
	}
	return []string{fmt.Sprintf("`envfix plan --no-lock --change-driver` plans a newer driver; profile %s needs %s", p.Name, p.Match.Driver)}
}

// bound reads the profile's pylock and holds it to the lock. Beside the default
// index, packages may come from the matrix's indexes and from the mirrors.
func (t *Team) bound(l *lock.Lock, p *lock.Profile, mirrors Mirrors) (*lock.Packages, error) {
	b, err := ReadFile(t.path(p.Pylock.File))
	if err != nil {
		return nil, &fail.Error{Code: fail.Integrity, Text: clean(err.Error()), Err: err, Hints: []string{"commit the pylock files beside " + lock.File}}
	}
	known := map[string]bool{}
	for _, r := range t.Matrix.Releases {
		for _, build := range r.Builds {
			known[build.Index] = true
		}
	}
	for _, pair := range mirrors.all() {
		known[pair[0]], known[lock.Wheel{URL: pair[1]}.Host()] = true, true
	}
	if w, err := t.wishes(l); err == nil { // the user's own file, not the lock
		for _, i := range w.Indexes {
			known[i.URL], known[lock.Wheel{URL: i.URL}.Host()] = true, true
		}
	}
	k, err := p.Bind(b, func(indexOrHost string) bool { return known[indexOrHost] })
	if err != nil {
		return nil, &fail.Error{
			Code:  fail.Integrity,
			Text:  clean(err.Error()),
			Err:   err,
			Hints: []string{"`envfix lock diff` between two commits shows what was changed"},
		}
	}
	return k, nil
}
