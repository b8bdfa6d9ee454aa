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
	return &cli.Command{
		Name:      "schema",
		Usage:     "print the JSON Schema of what a command prints as JSON",
		ArgsUsage: "[NAME]",
		Description: `Without a name it lists them. The schemas are of JSON Schema 2020-12. What
envfix prints only grows: fields that a schema does not name may be there.

EXAMPLES
  envfix schema
  envfix schema plan > plan.schema.json

EXIT STATUS
  0  the schema, or the list, is on standard output
  2  usage, or no such schema`,
		Action: func(c *cli.Context) error { return showSchema(c.App.Writer, c.Args().Slice()) },
	}
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
