package main

import (
	"envfix/internal/fail"

	"github.com/urfave/cli/v2"
)

// lockSyncCommand is apply with a lock that has to be there and leaves nothing beside
// it.
func lockSyncCommand(name string) *cli.Command {
	return declared(name, func(c *cli.Context) error {
		if c.NArg() > 0 {
			return fail.Wrong("`envfix lock sync` takes no package: the lock says which there are", "`envfix lock add PACKAGE`")
		}
		t := teamIn(lockDir())
		if _, err := t.Present(); err != nil {
			return err
		}
		return applyAction(c)
	})
}
