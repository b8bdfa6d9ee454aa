package main

import (
	"os"

	"envfix/internal/probe"

	"github.com/urfave/cli/v2"
)

// nvmlCommand is the child process that loads NVIDIA's library. It prints one
// line of JSON for its parent, which may kill it.
func nvmlCommand() *cli.Command {
	return &cli.Command{
		Name:   "__nvml",
		Hidden: true,
		Action: func(c *cli.Context) error { return probe.ServeNVML(os.Stdout, c.Args().Slice()) },
	}
}
