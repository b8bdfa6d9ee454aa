package main

import (
	"fmt"
	"path/filepath"

	"envfix/installers"
	"envfix/internal/lock"
	"envfix/internal/plan"
	"envfix/internal/team"
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
	home := team.Home(".")
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
	for _, f := range wishFlags {
		if c.IsSet(f) {
			return nil, &failure{code: exitUsage, text: fmt.Sprintf("`--%s` is a wish, and %s has chosen already", f, lock.File),
				hints: []string{"`--no-lock` chooses anew"}}
		}
	}
	t := team.Team{Dir: home, Matrix: m, Build: buildVersion}
	p, k, err := t.Follow(w.machine, c.String("profile"), team.ParseMirrors(c.StringSlice("mirror")))
	if err != nil {
		return nil, err
	}
	locked := installers.LockedProfile{Profile: p, Packages: k}
	if c.IsSet("bundle") {
		if locked.Bundle, err = filepath.Abs(filepath.Join(home, team.BundleWheels)); err != nil {
			return nil, err
		}
		w.target.Offline = true
	}
	return installers.Locked(m, w.machine, w.request, locked, w.target)
}
