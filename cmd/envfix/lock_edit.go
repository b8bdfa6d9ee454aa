package main

import (
	"envfix/internal/fail"

	"github.com/urfave/cli/v2"
)

func lockAddCommand() *cli.Command {
	return declared("lock add", func(c *cli.Context) error {
		f, err := lockOf(c)
		if err == nil && len(f.wish.Requirements)+len(f.wish.Files) == 0 {
			err = fail.Wrong("`envfix lock add` needs a package", "`envfix lock add numpy`")
		}
		if err != nil {
			return err
		}
		return f.make(c.Context, c.App.Writer)
	})
}

func lockRemoveCommand() *cli.Command {
	return declared("lock remove", func(c *cli.Context) error {
		f, err := lockOf(c)
		if err != nil {
			return err
		}
		if f.wish.Drop, f.wish.Requirements = f.wish.Requirements, nil; len(f.wish.Drop) == 0 {
			return fail.Wrong("`envfix lock remove` needs a package", "`envfix lock show` lists them")
		}
		return f.make(c.Context, c.App.Writer)
	})
}

func lockTargetCommand() *cli.Command {
	change := func(name string, wish func(f *lockCall, args []string) error) *cli.Command {
		return declared("lock target "+name, func(c *cli.Context) error {
			f, err := lockOfFlags(c)
			if err == nil {
				err = wish(&f, c.Args().Slice())
			}
			if err == nil && len(f.wish.Targets)+len(f.wish.DropTargets) == 0 {
				err = fail.Wrong("`envfix lock target " + name + "` needs " + c.Command.ArgsUsage)
			}
			if err != nil {
				return err
			}
			return f.make(c.Context, c.App.Writer)
		})
	}
	return above(declared("lock target", nil),
		change("add", func(f *lockCall, args []string) (err error) {
			more, err := lockTargets(nil, args)
			f.wish.Targets = append(f.wish.Targets, more...)
			return err
		}),
		change("remove", func(f *lockCall, args []string) error { f.wish.DropTargets = args; return nil }))
}
