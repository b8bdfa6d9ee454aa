package main

import (
	"github.com/urfave/cli/v2"
)

func fleetCommand() *cli.Command {
	return &cli.Command{
		Name:  "fleet",
		Usage: "answer for many machines at once: the fewest groups, and why they differ",
		Description: `Reads what many machines are and runs nothing on any of them: what reaches
hosts is Ansible, Slurm or Kubernetes. On each machine ` + "`envfix facts --class`" + `
prints the line that is read here.

EXAMPLES
  envfix fleet plan facts/
  envfix fleet plan nodes.csv vllm
  envfix fleet report results/

EXIT STATUS
  as each command says`,
		Subcommands: []*cli.Command{fleetPlanCommand(), fleetReportCommand()},
	}
}
