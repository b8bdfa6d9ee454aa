package main

import (
	"fmt"
	"strings"

	"envfix/internal/apply"
	"envfix/internal/cmdline"
	"envfix/internal/fail"
	"envfix/internal/say"
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
  envfix history --html history.html     a picture of it, one page
  envfix history --json

EXIT STATUS
  0  it is printed or written
  2  usage, or --html FILE cannot be written`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print it as JSON"},
			&cli.StringFlag{Name: "html", Usage: "write it to `FILE` as a picture, one page that needs nothing else"},
			envFlag(),
		},
		Action: cmdline.Taking(0, historyAction),
	}
}

func historyAction(c *cli.Context) error {
	var h apply.History
	if err := opened(placeOf(c).forPlan().dir, func(e *apply.Env) (err error) { h, err = e.History(); return err }); err != nil {
		return err
	}
	if file := c.String("html"); file != "" {
		if c.Bool("json") {
			return fail.Wrong("`--json` and `--html` are two answers: one of them", "`envfix history --html "+ui.Clean(file)+"`")
		}
		page, err := ui.HistoryPage(pastOf(h))
		return writePage(file, page, err)
	}
	return answer(c.App.Writer, c.Bool("json"), h, historyText(h, style(c.App.Writer)), fail.OK)
}

func historyText(h apply.History, look ui.Style) string {
	if len(h.Events) == 0 {
		return "envfix did nothing to " + ui.Clean(h.Env) + " yet\n"
	}
	var b strings.Builder
	for _, ev := range h.Events {
		when := strings.Replace(strings.TrimSuffix(ev.Time, "Z"), "T", " ", 1)
		note := eventNote(ev) + say.If(alike(h.Events, ev) > 1, ", "+ev.Gen) + say.With(" (at step ", ev.Step, ")")
		lead := ui.Clean(fmt.Sprintf("%s  %-8s  %-9s  ", when, ev.What, ev.State))
		b.WriteString(trimmed(look.Hang(lead, ui.Clean(note))))
	}
	if len(h.Generations) == 0 {
		return b.String()
	}
	b.WriteString("\nenvironments (`envfix rollback ID` goes to one)\n")
	for _, g := range h.Generations {
		what := say.Either(g.Adopted, "as it was before envfix", "torch "+g.Torch) + say.If(g.ID == h.Current, ", in use")
		fmt.Fprintf(&b, "  %-18s  %s\n", ui.Clean(g.ID), ui.Clean(what))
	}
	return b.String()
}

// eventNote says what an event was, where its journal line says only which environment.
func eventNote(ev apply.Event) string {
	return say.Either(ev.What == "collect" && ev.Note == "", ev.Gen+", an older environment, was removed", ev.Note)
}

// alike counts the events that would read like one.
func alike(all []apply.Event, as apply.Event) int {
	n := 0
	for _, ev := range all {
		if ev.What == as.What && ev.State == as.State && ev.Note == as.Note && ev.Gen != "" {
			n++
		}
	}
	return n
}

// trimmed is a line or lines without blanks at their ends.
func trimmed(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}
