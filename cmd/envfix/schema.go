package main

import (
	"fmt"
	"io"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/schema"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func schemaCommand() *cli.Command {
	return declared("schema", func(c *cli.Context) error { return showSchema(c.App.Writer, c.Args().Slice()) })
}

func showSchema(w io.Writer, names []string) error {
	if len(names) == 0 {
		_, err := fmt.Fprintln(w, strings.Join(schema.Names(), "\n"))
		return err
	}
	b, ok := schema.Get(strings.Join(names, "-"))
	if !ok {
		return fail.Wrong(fmt.Sprintf("there is no schema %q", ui.Clean(strings.Join(names, " "))), "`envfix schema` lists them")
	}
	_, err := w.Write(b)
	return err
}
