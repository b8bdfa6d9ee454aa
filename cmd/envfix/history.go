package main

import (
	"encoding/json"
	"fmt"
	"os"
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
	if c.NArg() > 0 {
		return &failure{code: exitUsage, text: "`envfix history` takes no arguments"}
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
		enc := json.NewEncoder(os.Stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(h)
	}
	printHistory(h)
	return nil
}

func printHistory(h apply.History) {
	if len(h.Events) == 0 {
		fmt.Println("envfix did nothing to " + ui.Clean(h.Env) + " yet")
		return
	}
	for _, ev := range h.Events {
		line := fmt.Sprintf("%s  %-8s  %-9s  %s", strings.Replace(strings.TrimSuffix(ev.Time, "Z"), "T", " ", 1), ev.What, ev.State, ev.Note)
		if ev.Step != "" {
			line += " (at step " + ev.Step + ")"
		}
		fmt.Println(strings.TrimRight(ui.Clean(line), " "))
	}
	if len(h.Generations) == 0 {
		return
	}
	fmt.Println("\nenvironments (`envfix rollback ID` goes to one)")
	for _, g := range h.Generations {
		mark := " "
		if g.ID == h.Current {
			mark = "*"
		}
		what := "torch " + g.Torch
		if g.Adopted {
			what = "as it was before envfix"
		}
		fmt.Printf("%s %-18s  %s\n", mark, ui.Clean(g.ID), ui.Clean(what))
	}
	fmt.Println("* in use")
}
