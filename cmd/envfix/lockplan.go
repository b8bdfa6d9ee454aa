package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"envfix/installers"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/ui"
	"envfix/internal/version"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

// lockFlags are the flags of plan and apply that say how to follow a lock.
func lockFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "profile", Usage: "the `NAME` of the lock's profile to install, where the machine cannot tell"},
		&cli.BoolFlag{Name: "no-lock", Usage: "choose anew although there is an " + lock.File},
		&cli.StringFlag{Name: "bundle", Usage: "install from the folder `DIR` that `envfix lock bundle` filled"},
	}
}

// wishFlags choose a build; given with a lock, they would be silently ignored.
var wishFlags = []string{"cuda", "build", "cpu", "python", "only-index", "gpus", "jit", "drop", "fresh"}

// lockedPlan returns the plan that installs the lock's profile for this machine,
// where an envfix.lock governs the working directory: it lies there or above, no
// requirements are given, and --no-lock is not. The plan is nil where none does.
func lockedPlan(c *cli.Context, m *matrix.Matrix, w wanted) (*plan.Plan, error) {
	home := lockHome(".")
	if bundle := c.String("bundle"); bundle != "" {
		home = bundle
	}
	switch {
	case c.Bool("no-lock") || len(w.request.Requirements) > 0:
		return nil, nil
	case home == "" && c.IsSet("profile"):
		return nil, &failure{code: exitUsage, text: "`--profile` names a profile of " + lock.File + ", and there is none here or above",
			hints: []string{"`envfix lock` makes one"}}
	case home == "":
		return nil, nil
	}
	l, err := presentLock(home)
	if err != nil {
		return nil, err
	}
	if err := fitsThisEnvfix(l); err != nil {
		return nil, err
	}
	for _, f := range wishFlags {
		if c.IsSet(f) {
			return nil, &failure{code: exitUsage, text: fmt.Sprintf("`--%s` is a wish, and %s has chosen already", f, lock.File), hints: []string{"`--no-lock` chooses anew"}}
		}
	}
	p, err := pickProfile(c, l, w.machine)
	if err != nil {
		return nil, err
	}
	k, err := boundPackages(c, m, home, p)
	if err != nil {
		return nil, err
	}
	locked := installers.LockedProfile{Profile: p, Packages: k}
	if c.IsSet("bundle") {
		if locked.Bundle, err = filepath.Abs(filepath.Join(home, bundleWheels)); err != nil {
			return nil, err
		}
		w.target.Offline = true
	}
	return installers.Locked(m, w.machine, w.request, locked, w.target)
}

func fitsThisEnvfix(l *lock.Lock) error {
	least, err := version.ParseDotted(strings.TrimPrefix(l.RequiresEnvfix, ">="))
	have, herr := version.ParseDotted(releaseOf(buildVersion))
	if err != nil || herr != nil || have.Less(least) {
		return &failure{code: exitUsage, text: fmt.Sprintf("%s needs envfix %s, and this is %s", lock.File, ui.Clean(l.RequiresEnvfix), releaseOf(buildVersion))}
	}
	return nil
}

// pickProfile returns the one profile that the machine matches, or the one that
// --profile names where the machine meets its conditions.
func pickProfile(c *cli.Context, l *lock.Lock, h machine.Machine) (*lock.Profile, error) {
	if name := c.String("profile"); name != "" {
		p, err := l.Profile(name)
		if err != nil {
			return nil, &failure{code: exitUsage, text: err.Error(), err: err}
		}
		if faults := p.Match.Check(h); len(faults) > 0 {
			f := &failure{code: exitNoSolution, text: fmt.Sprintf("this machine is not what profile %s is for", p.Name)}
			for _, m := range faults {
				f.details = append(f.details, m.String())
			}
			return nil, f
		}
		return p, nil
	}
	p, err := l.Pick(h)
	var pick *lock.PickError
	if errors.As(err, &pick) {
		f := &failure{code: exitNoSolution, text: pick.Text, details: pick.Details, err: err, hints: []string{"`envfix plan --no-lock` shows what this machine could run",
			"`envfix lock --target NAME=\"…\"` adds a kind of machine"}}
		if len(pick.Several) > 0 {
			f.hints = []string{fmt.Sprintf("name one: `--profile %s`", pick.Several[0])}
		}
		return nil, f
	}
	return p, err
}

// boundPackages reads the profile's pylock and holds it to the lock. Beside the
// default index, packages may come from the matrix's indexes and from --mirror's.
func boundPackages(c *cli.Context, m *matrix.Matrix, home string, p *lock.Profile) (*lock.Packages, error) {
	b, err := readLockFile(filepath.Join(home, p.Pylock.File))
	if err != nil {
		return nil, &failure{code: exitIntegrity, text: ui.Clean(err.Error()), err: err, hints: []string{"commit the pylock files beside " + lock.File}}
	}
	known := map[string]bool{}
	for _, r := range m.Releases {
		for _, build := range r.Builds {
			known[build.Index] = true
		}
	}
	for _, pair := range c.StringSlice("mirror") {
		from, to, _ := strings.Cut(pair, "=")
		known[from], known[lock.Wheel{URL: to}.Host()] = true, true
	}
	k, err := p.Bind(b, func(indexOrHost string) bool { return known[indexOrHost] })
	if err != nil {
		return nil, &failure{code: exitIntegrity, text: ui.Clean(err.Error()), err: err, hints: []string{"`envfix lock diff` between two commits shows what was changed"}}
	}
	return k, nil
}
