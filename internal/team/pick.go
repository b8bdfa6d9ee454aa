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

// Follow returns the profile of the team's lock that a machine is to install and its
// packages: the one that it matches, or name's where it meets that one's conditions.
func (t *Team) Follow(h machine.Machine, name string, mirrors Mirrors) (*lock.Profile, *lock.Packages, error) {
	l, err := t.Present()
	if err != nil {
		return nil, nil, err
	}
	if err := t.readable(l); err != nil {
		return nil, nil, err
	}
	p, err := pick(l, h, name)
	if err != nil {
		return nil, nil, err
	}
	k, err := t.bound(p, mirrors)
	return p, k, err
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

// pick returns the one profile that the machine matches, or the named one where the
// machine meets its conditions.
func pick(l *lock.Lock, h machine.Machine, name string) (*lock.Profile, error) {
	if name != "" {
		p, err := l.Profile(name)
		if err != nil {
			return nil, &fail.Error{Code: fail.Usage, Text: err.Error(), Err: err}
		}
		if faults := p.Match.Check(h); len(faults) > 0 {
			f := &fail.Error{Code: fail.NoSolution, Text: fmt.Sprintf("this machine is not what profile %s is for", p.Name)}
			for _, m := range faults {
				f.Details = append(f.Details, m.String())
			}
			return nil, f
		}
		return p, nil
	}
	p, err := l.Pick(h)
	var none *lock.PickError
	if errors.As(err, &none) {
		f := &fail.Error{Code: fail.NoSolution, Text: none.Text, Details: none.Details, Err: err, Hints: []string{"`envfix plan --no-lock` shows what this machine could run",
			"`envfix lock --target NAME=\"…\"` adds a kind of machine"}}
		if len(none.Several) > 0 {
			f.Hints = []string{fmt.Sprintf("name one: `--profile %s`", none.Several[0])}
		}
		return nil, f
	}
	return p, err
}

// bound reads the profile's pylock and holds it to the lock. Beside the default
// index, packages may come from the matrix's indexes and from the mirrors.
func (t *Team) bound(p *lock.Profile, mirrors Mirrors) (*lock.Packages, error) {
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
	k, err := p.Bind(b, func(indexOrHost string) bool { return known[indexOrHost] })
	if err != nil {
		return nil, &fail.Error{Code: fail.Integrity, Text: clean(err.Error()), Err: err, Hints: []string{"`envfix lock diff` between two commits shows what was changed"}}
	}
	return k, nil
}
