package main

import (
	"envfix/internal/fail"

	"github.com/urfave/cli/v2"
)

// lockSyncCommand is apply with a lock that has to be there and leaves nothing beside
// it.
func lockSyncCommand() *cli.Command {
	c := applyCommand()
	c.Name, c.ArgsUsage = "sync", " "
	c.Usage = "make the environment exactly the lock, also without what the lock does not name"
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
