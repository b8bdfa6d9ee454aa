package team

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/reach"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/resolver"
)

// A Chosen is the profile that a machine installs.
type Chosen struct {
	Profile      *lock.Profile
	Packages     *lock.Packages
	Why          string // why this one of several that fit; "" it alone does
	DefaultIndex string // that the team's files name in place of the installer's default
	OtherDriver  bool   // the machine needs another driver first
}

// A Following says how a lock is followed.
type Following struct {
	Profile     string // only this one; "" the best that the machine matches
	Mirrors     plan.Mirrors
	Groups      []string // and extras that are installed too
	OtherDriver bool     // the machine's driver may be changed
	AnyMachine  bool     // the named profile, whatever the machine is: nothing is installed
}

// Follow returns the profile of the team's lock that a machine is to install and its
// packages: the best that it matches, or the named one where it meets its conditions.
func (t *Team) Follow(h machine.Machine, f Following) (*Chosen, error) {
	l, err := t.Present()
	if err != nil {
		return nil, err
	}
	if err := t.readable(l); err != nil {
		return nil, err
	}
	p, why, err := pick(l, h, f)
	if err != nil {
		return nil, err
	}
	k, err := t.bound(p, t.allowed(f.Mirrors))
	if err != nil {
		return nil, err
	}
	if k, err = k.Choose(f.Groups); err != nil {
		return nil, fail.Wrap(fail.Usage, err)
	}
	return &Chosen{p, k, why, t.own().DefaultIndex, len(p.Match.Check(h)) > 0}, nil
}

// readable refuses a lock that a newer envfix wrote.
func (t *Team) readable(l *lock.Lock) error {
	least, err := version.ParseDotted(strings.TrimPrefix(l.RequiresEnvfix, ">="))
	have, herr := version.ParseDotted(Release(t.Build))
	if err != nil || herr != nil || have.Less(least) {
		return fail.Wrong(fmt.Sprintf("%s needs envfix %s, and this is %s", lock.File, clean(l.RequiresEnvfix), Release(t.Build)))
	}
	return nil
}

// pick returns the best profile that the machine matches, or the named one where the
// machine meets its conditions; with another driver, where that may change.
func pick(l *lock.Lock, h machine.Machine, f Following) (*lock.Profile, string, error) {
	if f.Profile != "" {
		p, err := l.Profile(f.Profile)
		if err != nil {
			return nil, "", fail.Wrap(fail.Usage, err)
		}
		faults := p.Match.Check(h)
		if len(faults) == 0 || f.AnyMachine || f.OtherDriver && lock.DriverAlone(faults) {
			return p, "", nil
		}
		return nil, "", &fail.Error{Code: fail.NoSolution, Text: fmt.Sprintf("this machine is not what profile %s is for", p.Name),
			Details: text.Each(faults, lock.Mismatch.String), Hints: append(driverHint(faults, p, " --profile "+p.Name), ways(h, *p)...)}
	}
	p, why, err := l.Pick(h, f.OtherDriver)
	var none *lock.PickError
	if !errors.As(err, &none) {
		return p, why, err
	}
	bad := &fail.Error{Code: fail.NoSolution, Text: none.Text, Details: none.Details, Err: err}
	if p, _, err := l.Pick(h, true); err == nil {
		bad.Hints = driverHint(p.Match.Check(h), p, "")
	}
	bad.Hints = append(bad.Hints, ways(h, l.Profiles...)...)
	return nil, "", bad
}

// ways are left to a machine that profiles are not for. Who has no GPU, or no driver, here
// describes the machine that has it, where that could run what is installed here.
func ways(h machine.Machine, profiles ...lock.Profile) (out []string) {
	here := slices.ContainsFunc(profiles, func(p lock.Profile) bool { return p.Match.OS == h.Platform.OS && p.Match.GPU != "" })
	if here && (len(h.GPUs) == 0 || h.Driver == nil && h.GPUs[0].Vendor == machine.NVIDIA) {
		out = []string{"`--gpu GPU --driver VERSION` describes the machine that has it: an image built here, a login node"}
	}
	names := text.Each(h.GPUs, func(g machine.GPU) string { return clean(g.Name) })
	kind := "os=" + h.Platform.OS + " gpu=" + cmp.Or(strings.Join(names, ","), "none")
	if h.Driver != nil {
		kind += " driver=" + h.Driver.Version.String()
	}
	return append(out, "`envfix plan --no-lock` shows what this machine could run", "`envfix lock target add here=\""+kind+"\"` has the lock serve it, too")
}

// driverHint is the way out where the driver alone keeps a machine from a profile.
func driverHint(faults []lock.Mismatch, p *lock.Profile, flags string) []string {
	if !lock.DriverAlone(faults) {
		return nil
	}
	branch := say.With(" of branch ", clean(p.Driver.Branch), "")
	return []string{fmt.Sprintf("`envfix plan%s --change-driver` plans a driver%s and then profile %s, which needs %s",
		flags, branch, p.Name, p.Match.Driver)}
}

// bound reads the profile's pylock and holds it to the lock. Beside the default
// index, packages may come from where is allowed.
func (t *Team) bound(p *lock.Profile, allowed reach.Allowed) (*lock.Packages, error) {
	b, err := ReadFile(t.path(p.Pylock.File))
	if err != nil {
		return nil, fail.Wrap(fail.Integrity, err, "commit the pylock files beside "+lock.File)
	}
	k, err := p.Bind(b, allowed.Index, allowed.File)
	if err != nil {
		return nil, fail.Because(err, fail.Integrity, clean(err.Error()), "`envfix lock diff` between two commits shows what was changed")
	}
	return k, nil
}

// allowed is what files may be fetched from: the indexes of the matrix, the mirrors, and
// the indexes of the team's own files. What a lock names beside them is not.
func (t *Team) allowed(mirrors plan.Mirrors) reach.Allowed {
	known := []string{mirrors.Default}
	for _, r := range t.Matrix.Releases {
		for _, build := range r.Builds {
			known = append(known, build.Index)
			known = append(known, text.Each(resolver.Channels, func(c string) string { return resolver.ChannelIndex(build.Index, c) })...)
		}
	}
	for _, pair := range mirrors.Pairs {
		known = append(known, pair[0], pair[1])
	}
	known = append(known, text.Each(t.own().Indexes, func(i lock.Tied) string { return i.URL })...)
	slices.Sort(known)
	return reach.Bind(slices.Compact(known)...)
}

// own is what the team's own files say of indexes; the lock is none of them.
func (t *Team) own() lock.Input {
	w, err := t.wishes(nil)
	if err != nil {
		return lock.Input{}
	}
	in, err := t.input(w)
	if err != nil {
		return lock.Input{Indexes: w.Indexes}
	}
	return lock.Input{Indexes: in.Indexes, DefaultIndex: in.DefaultIndex}
}
