package main

import (
	"fmt"
	"io"
	"os"

	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

// buildVersion is the program's own version; a release build sets it by the linker.
var buildVersion = "0.1.0"

func showVersion(w io.Writer) error {
	m, err := matrix.Embedded()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "envfix %s (matrix %s)\n", buildVersion, m.Version)
	return err
}

// homeAction is `envfix` alone: what this machine is, what is wrong, and the
// next command to type.
func homeAction(c *cli.Context) error { return showHelp(os.Stdout, nil) }
