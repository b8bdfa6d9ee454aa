package main

import (
	"cmp"

	"envfix/internal/fail"

	"github.com/urfave/cli/v2"
)

func lockAddCommand() *cli.Command {
	return lockEdit("add", "a package", func(c *cli.Context) (lockCall, int, error) {
		f, err := lockOf(c)
		return f, len(f.wish.Requirements) + len(f.wish.Files), err
	}, "`envfix lock add numpy`")
}

func lockRemoveCommand() *cli.Command {
	return lockEdit("remove", "a package", func(c *cli.Context) (lockCall, int, error) {
		f, err := lockOf(c)
		f.wish.Drop, f.wish.Requirements = f.wish.Requirements, nil
		return f, len(f.wish.Drop), err
	}, "`envfix lock show` lists them")
}

func lockTargetCommand() *cli.Command {
	return above(declared("lock target", nil),
		lockEdit("target add", "", func(c *cli.Context) (lockCall, int, error) {
			f, err := lockOfFlags(c)
			if err != nil {
				return f, 0, err
			}
			more, err := lockTargets(nil, c.Args().Slice())
			f.wish.Targets = append(f.wish.Targets, more...)
			return f, len(f.wish.Targets), err
		}),
		lockEdit("target remove", "", func(c *cli.Context) (lockCall, int, error) {
			f, err := lockOfFlags(c)
			f.wish.DropTargets = c.Args().Slice()
			return f, len(f.wish.Targets) + len(f.wish.DropTargets), err
		}))
}

// lockEdit is a command that changes what is asked for, and makes the lock; of says how
// many things it was given. needs, else its own usage, says what it has to be given.
func lockEdit(name, needs string, of func(*cli.Context) (lockCall, int, error), hints ...string) *cli.Command {
	return declared("lock "+name, func(c *cli.Context) error {
		f, given, err := of(c)
		if err == nil && given == 0 {
			err = fail.Wrong("`envfix lock "+name+"` needs "+cmp.Or(needs, c.Command.ArgsUsage), hints...)
		}
		if err != nil {
			return err
		}
		return f.make(c.Context, c.App.Writer)
	})
}
