package main

import (
	"envfix/installers"
	"envfix/internal/fail"
	"envfix/internal/place"

	"github.com/urfave/cli/v2"
)

func execCommand() *cli.Command {
	return &cli.Command{
		Name:      "exec",
		Usage:     "run a command in the environment",
		ArgsUsage: "-- COMMAND [ARGUMENT…]",
		Description: `Runs a command with what "envfix env" prints: the environment's programs first on
PATH, and nothing that would replace torch's own libraries. "envfix run" does the
same job and says why the GPU idles.

EXAMPLES
  envfix exec -- python train.py
  envfix exec --env ~/envs/torch -- torchrun --nproc-per-node 2 train.py

EXIT STATUS
  The command's own; 1: there is no environment, or no such command; 2: usage.`,
		Flags: []cli.Flag{envFlag()},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return fail.Wrong("`envfix exec` needs a command", "`envfix exec -- python`")
			}
			at := placeOf(c)
			dir, bin, err := place.Environment(at.Dir)
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
		},
	}
}
