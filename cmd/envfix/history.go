package main

import (
	"fmt"
	"io"
	"strings"

	"envfix/internal/apply"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func historyCommand() *cli.Command {
	return &cli.Command{
		Name:  "history",
		Usage: "what was done to the environment, and what can be gone back to",
		Description: `Lists what envfix did to the environment, oldest first, and the environments that
"envfix rollback" can go back to.

EXAMPLES
  envfix history
  envfix history --json`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print it as JSON"},
			&cli.StringFlag{Name: "env", Value: ".venv", Usage: "the environment's `DIR`"},
		},
		Action: historyAction,
	}
}

func historyAction(c *cli.Context) error {
	if err := noArguments(c, 0); err != nil {
		return err
	}
	e, err := apply.Open(c.String("env"))
	if err != nil {
		return fromApply(err)
	}
	defer e.Close()
	h, err := e.History()
	if err != nil {
		return fromApply(err)
	}
	if c.Bool("json") {
		return writeJSON(c.App.Writer, h)
	}
	_, err = io.WriteString(c.App.Writer, historyText(h))
	return err
}

func historyText(h apply.History) string {
	if len(h.Events) == 0 {
		return "envfix did nothing to " + ui.Clean(h.Env) + " yet\n"
	}
	var b strings.Builder
	for _, ev := range h.Events {
		line := fmt.Sprintf("%s  %-8s  %-9s  %s", strings.Replace(strings.TrimSuffix(ev.Time, "Z"), "T", " ", 1), ev.What, ev.State, ev.Note)
		if ev.Step != "" {
			line += " (at step " + ev.Step + ")"
		}
		b.WriteString(strings.TrimRight(ui.Clean(line), " ") + "\n")
	}
	if len(h.Generations) == 0 {
		return b.String()
	}
	b.WriteString("\nenvironments (`envfix rollback ID` goes to one)\n")
	for _, g := range h.Generations {
		mark := " "
		if g.ID == h.Current {
			mark = "*"
		}
		what := "torch " + g.Torch
		if g.Adopted {
			what = "as it was before envfix"
		}
		fmt.Fprintf(&b, "%s %-18s  %s\n", mark, ui.Clean(g.ID), ui.Clean(what))
	}
	return b.String() + "* in use\n"
}
