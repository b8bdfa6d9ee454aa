package main

import (
	"os"
	"time"

	"envfix/internal/fail"
	"envfix/internal/nvmlchild"
	"envfix/internal/observe"

	"github.com/urfave/cli/v2"
)

// nvmlCommand is the child process that loads NVIDIA's library. It prints one
// line of JSON for its parent, which may kill it.
func nvmlCommand() *cli.Command {
	return &cli.Command{
		Name:   nvmlchild.ReportCommand,
		Hidden: true,
		Action: func(c *cli.Context) error { return nvmlchild.ServeNVML(stdout(), c.Args().Slice()) },
	}
}

// nvmlSampleCommand is the child process that samples the GPUs of `envfix run`
// and `envfix watch`: one line of JSON an interval, until its stdin ends.
func nvmlSampleCommand() *cli.Command {
	return &cli.Command{
		Name:   nvmlchild.SampleCommand,
		Hidden: true,
		Action: func(c *cli.Context) error {
			every, err := time.ParseDuration(c.Args().First())
			if err != nil || every < time.Millisecond {
				return fail.Wrong("an interval is needed, such as 200ms")
			}
			observe.Shrink()
			return nvmlchild.ServeSamples(os.Stdin, stdout(), every, c.Args().Tail())
		},
	}
}
