package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/project"
	"envfix/internal/say"
	"envfix/internal/team"
	"envfix/internal/text"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func lockCommand() *cli.Command {
	return above(declared("lock", lockAction), lockAddCommand(), lockRemoveCommand(), lockTargetCommand(), lockSyncCommand("lock sync"),
		lockShowCommand(), lockDiffCommand(), lockExportCommand(), lockBundleCommand())
}

func lockAction(c *cli.Context) error {
	f, err := lockOf(c)
	if err != nil {
		return err
	}
	if f.check {
		return f.checkLock(c.Context, c.App.Writer)
	}
	return f.make(c.Context, c.App.Writer)
}

// A lockCall is what one call of `envfix lock` says.
type lockCall struct {
	wish             team.Wish
	check, installed bool
	json             bool
	env              string
}

// lockOf reads the flags, and the arguments as requirements.
func lockOf(c *cli.Context) (lockCall, error) {
	f, err := lockOfFlags(c)
	if err != nil {
		return f, err
	}
	args := c.Args().Slice()
	if i, file := slices.Index(args, "."), project.FirstWish("."); i >= 0 && file != "" { // as `envfix plan .`
		f.wish.Files, args = append(f.wish.Files, file), slices.Delete(args, i, i+1)
	}
	asked, err := project.RequirementsOf(args)
	f.wish.Requirements = text.Each(asked, func(q pep508.Requirement) string { return q.Text })
	if f.wish.Upgrade {
		f.wish.Only = args
	}
	return f, err
}

func lockOfFlags(c *cli.Context) (lockCall, error) {
	f := lockCall{check: c.Bool("check") || c.Bool("installed"), installed: c.Bool("installed"), json: c.Bool("json"), env: c.String("env")}
	f.wish = team.Wish{Files: c.StringSlice("requirements"), SameTorch: c.Bool("same-torch"), Upgrade: c.Bool("upgrade"), UpgradeMatrix: c.Bool("upgrade-matrix"),
		Profile: c.String("profile"), Offline: c.Bool("offline"), Build: c.StringSlice("build-from-source"), AsNamed: c.StringSlice("as-named"),
		Groups: c.StringSlice("group"), Defaults: map[string]string{}}
	for _, key := range team.TargetKeys {
		name := say.Either(key == "index", "only-index", key)
		value := say.Either(key == "gpu", strings.Join(c.StringSlice(name), ","), c.String(name))
		if c.IsSet(name) && value != "" {
			f.wish.Defaults[key] = value
		}
	}
	if c.Bool("cpu") {
		f.wish.Defaults["build"] = "cpu"
	}
	var err error
	if f.wish.Mirrors, err = mirrorFlags(c.StringSlice("mirror")); err != nil {
		return f, err
	}
	f.wish.Targets, err = lockTargets(c.StringSlice("facts"), c.StringSlice("target"))
	return f, err
}

// make makes the lock and says what it is.
func (f lockCall) make(ctx context.Context, out io.Writer) error {
	t := teamIn(".")
	old, err := t.Read()
	var broken []string
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		broken = []string{ui.Clean(err.Error()) + ": it is written anew from what is asked for"}
	}
	bar := newProgress("resolving the targets")
	t.Progress = bar.step
	r, err := t.Lock(ctx, f.wish, old)
	bar.end()
	if err != nil {
		return f.wayOut(t, old, err)
	}
	if file := project.FirstWish("."); old == nil && file != "" && len(f.wish.Files)+len(f.wish.Requirements) == 0 {
		broken = append(broken, ui.Clean(file)+" was not read: `envfix lock .` locks what it asks for")
	}
	r.Notes = append(broken, r.Notes...)
	return answer(out, f.json, lockJSON(r), ui.Locked(r), fail.OK)
}

// mirrorFlags reads --mirror.
func mirrorFlags(pairs []string) (plan.Mirrors, error) {
	for _, pair := range pairs {
		if err := describe.Mirror(pair); err != nil {
			return plan.Mirrors{}, err
		}
	}
	return plan.ParseMirrors(pairs), nil
}

// lockJSON is what `envfix lock --json` prints.
func lockJSON(r *team.Result) any {
	list := func(s []string) []string { return append([]string{}, s...) }
	return lockAnswer{1, list(r.Edits), list(r.Changes), list(r.Removed), list(r.Notes), r.Lock}
}

// A lockAnswer is the JSON of `envfix lock`.
type lockAnswer struct {
	Format  int        `json:"format"`
	Edits   []string   `json:"edits"`
	Changes []string   `json:"changes"`
	Removed []string   `json:"removed"`
	Notes   []string   `json:"notes"`
	Lock    *lock.Lock `json:"lock"`
}
