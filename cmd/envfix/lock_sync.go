package main

import (
	"strings"

	"envfix/internal/fail"

	"github.com/urfave/cli/v2"
)

// syncCommand is `envfix lock sync` without the word between.
func syncCommand() *cli.Command {
	c := lockSyncCommand()
	c.Description = strings.ReplaceAll(c.Description, "envfix lock sync", "envfix sync")
	return c
}

// lockSyncCommand is apply with a lock that has to be there and leaves nothing beside
// it.
func lockSyncCommand() *cli.Command {
	c := applyCommand()
	c.Name, c.ArgsUsage = "sync", " "
	c.Usage = "make the environment exactly the lock, also without what the lock does not name"
	c.Description = `Carries out what ` + "`envfix apply`" + ` would with the lock that governs this directory,
and builds the environment anew where it holds a package that the lock does not name.
It takes apply's flags.

EXAMPLES
  envfix lock sync
  envfix lock sync --yes --profile v100`
	apply := c.Action
	c.Action = func(ctx *cli.Context) error {
		if ctx.NArg() > 0 {
			return fail.Wrong("`envfix lock sync` takes no package: the lock says which there are", "`envfix lock add PACKAGE`")
		}
		t := teamIn(lockDir())
		if _, err := t.Present(); err != nil {
			return err
		}
		return apply(ctx)
	}
	return c
}
