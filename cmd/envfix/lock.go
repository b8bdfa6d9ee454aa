package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/lock"
	"envfix/internal/team"

	"github.com/urfave/cli/v2"
)

func lockCommand() *cli.Command {
	return &cli.Command{
		Name:      "lock",
		Usage:     "pin the same packages for every kind of machine of a team",
		ArgsUsage: "[REQUIREMENT…]",
		Description: `Writes envfix.lock and one standard pylock.NAME.toml per kind of machine. It needs
no GPU and none of those machines: they are described. ` + "`envfix apply`" + ` then installs
exactly those bytes on the machines that match.

A description is gpu= driver= os= arch= libc= python= cuda= build= index=, as the
flags of ` + "`envfix plan`" + `; gpu takes a list. They may stand in envfix.toml as well:

  requirements = ["torch", "numpy"]
  [targets]
  v100 = "gpu=V100 driver=580 os=linux python=3.12"
  cpu  = "gpu=none"

EXAMPLES
  envfix lock torch --target v100="gpu=V100 driver=580" --target cpu="gpu=none"
  envfix lock --check
  envfix lock --upgrade-matrix
  envfix lock show
  envfix lock diff old.lock envfix.lock
  envfix lock export --format requirements --profile v100

EXIT STATUS
  0  written, or current
  2  usage, or a file that cannot be read
  3  no combination fits a target
  4  the lock is stale (with --check)`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "requirements", Aliases: []string{"r"}, Usage: "read requirements from `FILE`, or from a pyproject.toml"},
			&cli.StringSliceFlag{Name: "target", Usage: "a kind of machine, as `NAME=DESCRIPTION`: v100=\"gpu=V100 driver=580\"; repeat it for several"},
			&cli.StringSliceFlag{Name: "facts", Usage: "a kind of machine from `FILE` (envfix facts --json); repeat it"},
			&cli.BoolFlag{Name: "same-torch", Usage: "the same torch for every profile"},
			&cli.BoolFlag{Name: "check", Usage: "say whether the lock is current; no network"},
			&cli.BoolFlag{Name: "upgrade-matrix", Usage: "choose again with the data of this envfix"},
			&cli.BoolFlag{Name: "upgrade", Usage: "take the newest versions; with REQUIREMENTs only of those packages"},
			&cli.StringFlag{Name: "profile", Usage: "only this `NAME`"},
			&cli.BoolFlag{Name: "offline", Usage: "use no network: only what uv has cached"},
			&cli.StringSliceFlag{Name: "mirror", Usage: "`FROM=TO`: fetch TO wherever FROM is named; default=URL is the default index"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
		},
		Action:      lockAction,
		Subcommands: []*cli.Command{lockShowCommand(), lockDiffCommand(), lockExportCommand(), lockBundleCommand()},
	}
}

func lockAction(c *cli.Context) error {
	w, err := lockWish(c)
	if err != nil {
		return err
	}
	t, err := teamIn(".")
	if err != nil {
		return err
	}
	old, err := t.Read()
	if err != nil && !errors.Is(err, os.ErrNotExist) && !c.IsSet("target") {
		return err
	}
	if c.Bool("check") {
		return lockCheck(c.App.Writer, t, w, old, c.Bool("json"))
	}
	l, err := t.Lock(c.Context, w, old)
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.App.Writer, lockText(l))
	return err
}

// lockWish reads what a call of `envfix lock` asks for.
func lockWish(c *cli.Context) (team.Wish, error) {
	w := team.Wish{Files: c.StringSlice("requirements"), SameTorch: c.Bool("same-torch"), Upgrade: c.Bool("upgrade"), UpgradeMatrix: c.Bool("upgrade-matrix"),
		Profile: c.String("profile"), Offline: c.Bool("offline")}
	var err error
	if w.Mirrors, err = mirrorFlags(c.StringSlice("mirror")); err != nil {
		return w, err
	}
	for _, a := range c.Args().Slice() {
		if err := notAFile(a); err != nil {
			return w, err
		}
		q, err := describe.Requirement(a)
		if err != nil {
			return w, err
		}
		w.Requirements = append(w.Requirements, q.Text)
	}
	if w.Upgrade {
		w.Only = c.Args().Slice()
	}
	w.Targets, err = lockTargets(c.StringSlice("facts"), c.StringSlice("target"))
	return w, err
}

// mirrorFlags reads --mirror.
func mirrorFlags(pairs []string) (team.Mirrors, error) {
	for _, pair := range pairs {
		if err := describe.Mirror(pair); err != nil {
			return team.Mirrors{}, err
		}
	}
	return team.ParseMirrors(pairs), nil
}

// lockCheck says whether a lock is current.
func lockCheck(out io.Writer, t *team.Team, w team.Wish, old *lock.Lock, asJSON bool) error {
	if old == nil {
		_, err := t.Present() // says that there is none
		return err
	}
	stale, err := t.Staleness(w, old)
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		err = writeJSON(out, struct {
			Format  int      `json:"format"`
			Current bool     `json:"current"`
			Stale   []string `json:"stale"`
		}{1, len(stale) == 0, append([]string{}, stale...)})
		if err == nil && len(stale) > 0 {
			err = &failure{code: exitPending}
		}
		return err
	case len(stale) == 0:
		_, err = fmt.Fprintf(out, "%s is current: %s, matrix %s\n", lock.File, count(len(old.Profiles), "profile"), old.Matrix.Version)
		return err
	}
	return &failure{code: exitPending, text: lock.File + " is stale", details: stale,
		hints: []string{"`envfix lock` writes it anew, `envfix lock --upgrade-matrix` also chooses torch anew"}}
}

func lockText(l *lock.Lock) string {
	var b strings.Builder
	fmt.Fprintf(&b, "wrote %s and %d pylock files (matrix %s)\n", lock.File, len(l.Profiles), l.Matrix.Version)
	for _, p := range l.Profiles {
		fmt.Fprintf(&b, "  %-12s torch %-16s Python %-5s %5.1f GB  %s\n", p.Name, p.Torch, p.Python, float64(p.Size.Download)/1e9, p.Match.Text())
	}
	return b.String()
}
