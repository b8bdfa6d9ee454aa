package main

import (
	_ "embed"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"envfix/internal/cmdline"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/team"
	"envfix/internal/text"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

//go:embed manual.txt
var manualText string

// declarations are the sections of the manual as they are written: each declares a command.
var declarations = sync.OnceValue(func() cmdline.Manual {
	system, _ := machine.NormalPlatform(runtime.GOOS, runtime.GOARCH)
	return cmdline.ReadManual(manualText, "{formats}", strings.Join(team.Formats, ", "), "{managers}", strings.Join(managers.Names(), ", "), "{system}", system)
})

// manual is what the help says: the same, with what only the help needs.
func manual() cmdline.Manual {
	m := maps.Clone(declarations())
	m["envfix run"] = strings.Replace(m["envfix run"], "{verdicts}", strings.TrimSuffix(ui.Verdicts(), "\n"), 1)
	return m
}

// declared is the command of that name as the manual declares it.
func declared(name string, action cli.ActionFunc) *cli.Command {
	return declarations().Command("envfix "+name, action)
}

// sharing are flags that several commands have, by the names of their sections.
func sharing(sections ...string) []cli.Flag {
	return slices.Concat(text.Each(sections, func(name string) []cli.Flag { return declarations().Flags(name) })...)
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
	title := func(section string) string { return declarations().Command(section, nil).Usage }
	return []cmdline.Section{
		{Title: title("a wish"), Flags: sharing("a wish", "what is carried over")},
		{Title: title("another machine"), Flags: sharing("another machine")},
	}
}

// commandGroups is the order of the help text: by what brings somebody here.
func commandGroups() []cmdline.Group {
	return []cmdline.Group{
		{Title: "TO SET UP", Commands: []*cli.Command{
			declared("facts", cmdline.Taking(0, factsAction)), planCommand(), whyCommand(), applyCommand(),
			amendCommand("add"), amendCommand("remove"), lockSyncCommand("sync"), execCommand(), shellCommand(),
			declared("rollback", rollbackAction),
			declared("history", cmdline.Taking(0, historyAction)), cleanCommand(),
			declared("verify", cmdline.Taking(0, verifyAction)), declared("env", cmdline.Taking(0, envAction))}},
		{Title: "WHEN IT DOES NOT WORK", Commands: []*cli.Command{doctorCommand(), declared("explain", explainAction)}},
		{Title: "WHEN IT IS SLOW", Commands: []*cli.Command{declared("run", runAction), declared("watch", cmdline.Taking(0, watchAction))}},
		{Title: "FOR TEAMS, AND THE DATA", Commands: []*cli.Command{lockCommand(),
			above(declared("fleet", nil), fleetPlanCommand(), declared("fleet report", fleetReportAction)), matrixCommand(), completionCommand(), schemaCommand(), mcpCommand()}},
	}
}

// above is a command with commands of its own.
func above(c *cli.Command, below ...*cli.Command) *cli.Command {
	c.Subcommands = below
	return c
}
