package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"envfix/internal/machine"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

// describeFlags are the flags that describe a machine instead of reading this
// one.
func describeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "facts", Usage: "plan for the machine in `FILE` (envfix facts --json); - reads standard input"},
	}
}

// gatherMachine returns the machine that a command is about, and whether it was
// described by flags or a file.
func gatherMachine(c *cli.Context, m *matrix.Matrix) (machine.Machine, bool, error) {
	path := c.String("facts")
	if path == "" {
		return machine.Machine{}, false, fmt.Errorf("reading this machine is not there yet")
	}
	in := os.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return machine.Machine{}, true, &failure{code: exitUsage, text: err.Error()}
		}
		defer f.Close()
		in = f
	}
	var h machine.Machine
	if err := json.NewDecoder(io.LimitReader(in, 4<<20)).Decode(&h); err != nil {
		return h, true, &failure{code: exitUsage, text: fmt.Sprintf("%s: %v", path, err)}
	}
	return h, true, nil
}
