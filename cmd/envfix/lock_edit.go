package main

import (
	"slices"

	"envfix/internal/fail"

	"github.com/urfave/cli/v2"
)

func lockAddCommand() *cli.Command {
	return &cli.Command{
		Name: "add", Usage: "ask for packages too, and lock them", ArgsUsage: "REQUIREMENT…",
		Flags: lockMakeFlags(),
		Action: func(c *cli.Context) error {
			f, err := lockOf(c)
			if err == nil && len(f.wish.Requirements)+len(f.wish.Files) == 0 {
				err = fail.Wrong("`envfix lock add` needs a package", "`envfix lock add numpy`")
			}
			if err != nil {
				return err
			}
			return f.make(c.Context, c.App.Writer)
		},
	}
}

func lockRemoveCommand() *cli.Command {
	return &cli.Command{
		Name: "remove", Usage: "ask for packages no more, and make the lock again", ArgsUsage: "PACKAGE…",
		Flags: lockMakeFlags(),
		Action: func(c *cli.Context) error {
			f, err := lockOf(c)
			if err != nil {
				return err
			}
			if f.wish.Drop, f.wish.Requirements = f.wish.Requirements, nil; len(f.wish.Drop) == 0 {
				return fail.Wrong("`envfix lock remove` needs a package", "`envfix lock show` lists them")
			}
			return f.make(c.Context, c.App.Writer)
		},
	}
}

func lockTargetCommand() *cli.Command {
	change := func(name, usage, arguments string, wish func(f *lockCall, args []string) error, flags []cli.Flag) *cli.Command {
		return &cli.Command{Name: name, Usage: usage, ArgsUsage: arguments, Flags: flags,
			Action: func(c *cli.Context) error {
				args := c.Args().Slice()
				f, err := lockOfFlags(c)
				if err == nil {
					err = wish(&f, args)
				}
				if err == nil && len(f.wish.Targets)+len(f.wish.DropTargets) == 0 {
					err = fail.Wrong("`envfix lock target " + name + "` needs " + arguments)
				}
				if err != nil {
					return err
				}
				return f.make(c.Context, c.App.Writer)
			}}
	}
	facts := lockTargetFlags()[1:]
	return &cli.Command{
		Name: "target", Usage: "add or remove kinds of machine",
		Subcommands: []*cli.Command{
			change("add", "add or change a kind of machine, and lock for it", "NAME=DESCRIPTION…",
				func(f *lockCall, args []string) (err error) {
					more, err := lockTargets(nil, args)
					f.wish.Targets = append(f.wish.Targets, more...)
					return err
				}, slices.Concat(lockMakeFlags(), facts)),
			change("remove", "lock for a kind of machine no more", "NAME…",
				func(f *lockCall, args []string) error { f.wish.DropTargets = args; return nil }, lockMakeFlags()),
		},
	}
}
