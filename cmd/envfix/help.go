package main

import (
	_ "embed"
	"io"
	"slices"
	"strings"

	"envfix/internal/cmdline"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

//go:embed manual.txt
var manualText string

// manual says of each command what its declaration does not.
func manual() cmdline.Manual {
	return cmdline.Manual(strings.Replace(manualText, "{verdicts}", strings.TrimSuffix(ui.Verdicts(), "\n"), 1))
}

// showHelp prints the help of the command at the end of path, or of the program.
func showHelp(w io.Writer, path []*cli.Command) error {
	help := cmdline.ProgramHelp(commandGroups(), manual(), style(w))
	if len(path) > 0 {
		help = cmdline.CommandHelp(path, manual(), sharedFlags(), style(w))
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
			lockSyncCommand(), execCommand(),
			shellCommand(), rollbackCommand(), historyCommand(), cleanCommand(), verifyCommand(), envCommand()}},
		{Title: "WHEN IT DOES NOT WORK", Commands: []*cli.Command{doctorCommand(), explainCommand()}},
		{Title: "WHEN IT IS SLOW", Commands: []*cli.Command{runCommand(), watchCommand()}},
		{Title: "FOR TEAMS, AND THE DATA", Commands: []*cli.Command{lockCommand(), fleetCommand(), matrixCommand(),
			completionCommand(), schemaCommand(), mcpCommand()}},
	}
}
