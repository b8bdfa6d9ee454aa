package main

import (
	"os"

	"envfix/internal/machine"
	"envfix/internal/probe"

	"github.com/urfave/cli/v2"
)

// thisMachine reads the facts of this machine.
func thisMachine(c *cli.Context) machine.Machine {
	return probe.Gather(c.Context, probe.Options{Root: os.Getenv("ENVFIX_ROOT"), Env: os.Environ()})
}
