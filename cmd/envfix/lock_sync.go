package main

import (
	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/project"
	"envfix/internal/xslices"

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
			if own, ok := xslices.Find(ownTools, func(own [4]string) bool { return project.IsFile(own[0]) }); ok && governing() == "" {
				return fail.Wrong("there is no "+lock.File+" here: "+own[0]+" is "+own[1]+"'s own", "`"+own[3]+"` makes the environment what it says",
					"`envfix apply .` follows it with the torch for the GPU that is here")
			}
			return err
		}
		return applyAction(c)
	})
}
