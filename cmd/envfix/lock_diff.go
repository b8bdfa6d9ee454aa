package main

import (
	"fmt"
	"strings"

	"envfix/internal/team"

	"github.com/urfave/cli/v2"
)

func lockDiffCommand() *cli.Command {
	return &cli.Command{
		Name: "diff", Usage: "say in words what two locks differ in", ArgsUsage: "OLD NEW",
		Description: `Each argument is an envfix.lock or a folder with one; the pylock files beside it are
compared package by package.

EXAMPLES
  git show HEAD:envfix.lock > old.lock && envfix lock diff old.lock envfix.lock
  envfix lock diff ../main .`,
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return &failure{code: exitUsage, text: "`envfix lock diff` needs two locks", hints: []string{"`envfix lock diff OLD NEW`"}}
			}
			lines, err := team.Diff(c.Args().Get(0), c.Args().Get(1))
			if err != nil {
				return err
			}
			if len(lines) == 0 {
				lines = []string{"no difference"}
			}
			_, err = fmt.Fprintln(c.App.Writer, strings.Join(lines, "\n"))
			return err
		},
	}
}
