package main

import (
	"github.com/urfave/cli/v2"
)

func fleetCommand() *cli.Command {
	return &cli.Command{
		Name:        "fleet",
		Usage:       "answer for many machines at once: the fewest groups, and why they differ",
		Subcommands: []*cli.Command{fleetPlanCommand(), fleetReportCommand()},
	}
}
