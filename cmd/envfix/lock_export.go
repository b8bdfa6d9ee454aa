package main

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/lazy"
	"envfix/internal/place"
	"envfix/internal/team"

	"github.com/urfave/cli/v2"
)

// listBeside is the list of packages that a form names and does not hold.
var listBeside = lazy.Regexp(`requirements\.(\S+)\.txt`)

func lockExportCommand() *cli.Command {
	return declared("lock export", func(c *cli.Context) error {
		format := c.String("format")
		if !slices.Contains(team.Formats, format) {
			return describe.BadValue("format", format, "forms are "+strings.Join(team.Formats, ", "))
		}
		form, err := teamIn(lockDir()).Export(format, c.String("profile"), c.StringSlice("group")...)
		if err != nil {
			return err
		}
		var written strings.Builder
		if _, err := form.WriteTo(&written); err != nil {
			return err
		}
		if m := listBeside().FindStringSubmatch(written.String()); m != nil && format != "requirements" && !place.Exists(m[0]) {
			fmt.Fprintf(stderr(), "envfix: it reads %s, which `envfix lock export --profile %s --out %[1]s` writes\n", m[0], m[1])
		}
		return writeFormTo(c.App.Writer, c.String("out"), 0o644, form)
	})
}
