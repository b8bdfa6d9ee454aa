package main

import (
	"fmt"

	"envfix/internal/fail"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func lockBundleCommand() *cli.Command {
	return declared("lock bundle", func(c *cli.Context) error {
		if c.NArg() != 1 {
			return fail.Wrong("`envfix lock bundle` needs one folder", "`envfix lock bundle DIR`")
		}
		mirrors, err := mirrorFlags(c.StringSlice("mirror"))
		if err != nil {
			return err
		}
		t := teamIn(".")
		dir := c.Args().First()
		bar := newProgress("asking for the lock's files")
		n, err := t.Bundle(c.Context, dir, c.StringSlice("profile"), mirrors, bar.receive)
		bar.end()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.App.Writer, "%s in %s\n", ui.Count(n, "file"), ui.Clean(dir))
		return err
	})
}
