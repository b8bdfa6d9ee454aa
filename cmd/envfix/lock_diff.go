package main

import (
	"fmt"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/team"

	"github.com/urfave/cli/v2"
)

func lockDiffCommand() *cli.Command {
	return declared("lock diff", func(c *cli.Context) error {
		old, now := "HEAD", "."
		switch c.NArg() {
		case 2:
			old, now = c.Args().Get(0), c.Args().Get(1)
		case 1:
			old = c.Args().First()
		case 0:
		default:
			return fail.Wrong("`envfix lock diff` compares two locks", "`envfix lock diff OLD NEW`")
		}
		lines, err := team.Diff(c.Context, old, now)
		if err != nil {
			return err
		}
		if len(lines) == 0 {
			lines = []string{"no difference"}
		}
		_, err = fmt.Fprintln(c.App.Writer, strings.Join(lines, "\n"))
		return err
	})
}
