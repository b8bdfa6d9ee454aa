package main

import (
	"envfix/installers"
	"envfix/internal/fail"
	"envfix/internal/place"

	"github.com/urfave/cli/v2"
)

func execCommand() *cli.Command {
	return declared("exec", func(c *cli.Context) error {
		if c.NArg() == 0 {
			return fail.Wrong("`envfix exec` needs a command", "`envfix exec -- python`")
		}
		at := placeOf(c)
		dir, bin, err := standing(c.Context, at.Dir)
		if err != nil {
			return err
		}
		h := thisMachine(c.Context, at.Dir, false)
		for _, a := range place.Assignments(h, dir, bin, installers.InstalledFixes(matrixFor(), h)) {
			if err := place.Assign(a); err != nil {
				return err
			}
		}
		return place.Become(c.Args().Slice())
	})
}
