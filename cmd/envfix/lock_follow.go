package main

import (
	"fmt"
	"path/filepath"

	"envfix/installers"
	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/place"
	"envfix/internal/plan"
	"envfix/internal/planning"
	"envfix/internal/project"
	"envfix/internal/say"
	"envfix/internal/team"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

// choosing are flags that choose a build; given with a lock, they would be silently
// ignored.
var choosing = []string{"cuda", "build", "cpu", "python", "only-index", "channel", "gpus", "jit", "drop", "fresh"}

// followFlags say which lock is followed, and how.
type followFlags struct {
	profile string
	bundle  string
	groups  []string
	exact   bool   // what the lock does not name goes, too
	none    bool   // choose anew although there is a lock
	wish    string // a flag that chooses a build; "" none is given
}

func followOf(c *cli.Context) followFlags {
	return followFlags{
		profile: c.String("profile"),
		bundle:  c.String("bundle"),
		groups:  c.StringSlice("group"),
		none:    c.Bool("no-lock"),
		exact:   c.Command.Name == "sync",
		wish:    firstSet(c, choosing...),
	}
}

// lockDir is the directory of the lock that governs this one, this one where there
// is none.
func lockDir() string {
	if home := governing(); home != "" {
		return home
	}
	return "."
}

// governing is the directory of the lock that is followed here, "" for none; one of
// somebody else's is named.
func governing() string {
	home, stranger := team.Home(".")
	if stranger != "" {
		fmt.Fprintf(stderr(), "envfix: warning: %s belongs to another user and is not followed\n", ui.Clean(stranger))
	}
	return home
}

// lockedPlan returns the plan that installs the lock's profile for this machine,
// where an envfix.lock governs the working directory: it lies there or above, no
// requirements are given, and --no-lock is not. The plan is nil where none does.
func (f planFlags) lockedPlan(q planning.Question) (*plan.Plan, error) {
	home := say.Either(f.lock.bundle != "", f.lock.bundle, governing())
	wished := f.lock.none || len(q.Request.Requirements) > 0
	if err := f.lock.follows(home, wished); err != nil || wished || home == "" {
		return nil, err
	}
	if f.lock.wish != "" {
		return nil, fail.Wrong(fmt.Sprintf("`--%s` is a wish, and %s has chosen already", f.lock.wish, lock.File),
			"`--no-lock` chooses anew")
	}
	t := team.Team{Dir: home, Matrix: q.Matrix, Build: buildVersion, Project: project.Read}
	mirrors := plan.ParseMirrors(q.Target.Mirrors)
	chosen, err := t.Follow(q.Machine, team.Following{Profile: f.lock.profile, Mirrors: mirrors, Groups: f.lock.groups, OtherDriver: q.Request.ChangeDriver})
	if err != nil {
		return nil, err
	}
	if home, err = filepath.Abs(home); err != nil {
		return nil, err
	}
	if i := chosen.DefaultIndex; i != "" && mirrors.Default == "" {
		q.Target.Mirrors = append(q.Target.Mirrors, "default="+i)
	}
	locked := installers.LockedProfile{Profile: chosen.Profile, Packages: chosen.Packages, Why: chosen.Why, Home: home, Exact: f.lock.exact}
	if f.lock.bundle != "" {
		if locked.Bundle, err = filepath.Abs(filepath.Join(home, team.BundleWheels)); err != nil {
			return nil, err
		}
		locked.Tools = team.BundledTools(home)
		q.Target.Offline = true
	}
	return q.Locked(locked, chosen.OtherDriver)
}

// follows refuses flags about a lock where none is followed: a wish decides, or no folder has one.
func (l followFlags) follows(home string, wished bool) error {
	switch {
	case len(l.groups) > 0 && (wished || home == ""):
		return fail.Wrong("`--group` chooses a group of "+lock.File+", and this follows none",
			"without a lock, `-r 'pyproject.toml[NAME]'` asks for a group")
	case wished:
		return nil
	case l.bundle != "" && !place.Exists(filepath.Join(l.bundle, lock.File)):
		return fail.Wrong(fmt.Sprintf("there is no %s in %s: it is no folder that `envfix lock bundle` filled", lock.File, l.bundle),
			"`envfix lock bundle DIR` fills one, where there is a network")
	case home == "" && l.profile != "":
		return fail.Wrong("`--profile` names a profile of "+lock.File+", and there is none here or above",
			"`envfix lock` makes one")
	}
	return nil
}
