package main

import (
	"io"
	"slices"

	"envfix/internal/cmdline"

	"github.com/urfave/cli/v2"
)

// showHelp prints the help of the command at the end of path, or of the program.
func showHelp(w io.Writer, path []*cli.Command) error {
	help := cmdline.ProgramHelp(commandGroups(), style(w))
	if len(path) > 0 {
		help = cmdline.CommandHelp(path, sharedFlags(), style(w))
	}
	_, err := io.WriteString(w, help)
	return err
}

// sharedFlags are those that several commands have, and are shown below titles of their own.
func sharedFlags() []cmdline.Section {
	return []cmdline.Section{
		{Title: "WHAT IS WISHED FOR", Flags: slices.Concat(requestFlags(), carryFlags())},
		{Title: "ANOTHER MACHINE (each flag replaces what was found on this one)", Flags: describeFlags()},
	}
}

// commandGroups is the order of the help text: by what brings somebody here.
func commandGroups() []cmdline.Group {
	return []cmdline.Group{
		{Title: "TO SET UP", Commands: []*cli.Command{factsCommand(), planCommand(), whyCommand(), applyCommand(), addCommand(), removeCommand(),
			syncCommand(), execCommand(),
			shellCommand(), rollbackCommand(), historyCommand(), cleanCommand(), verifyCommand(), envCommand()}},
		{Title: "WHEN IT DOES NOT WORK", Commands: []*cli.Command{doctorCommand(), explainCommand()}},
		{Title: "WHEN IT IS SLOW", Commands: []*cli.Command{runCommand(), watchCommand()}},
		{Title: "FOR TEAMS, AND THE DATA", Commands: []*cli.Command{lockCommand(), fleetCommand(), matrixCommand(),
			completionCommand(), schemaCommand(), mcpCommand()}},
	}
}
