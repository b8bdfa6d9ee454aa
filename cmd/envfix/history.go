package main

import (
	"envfix/internal/apply"
	"envfix/internal/cmdline"
	"envfix/internal/fail"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func historyCommand() *cli.Command {
	return &cli.Command{
		Name:  "history",
		Usage: "what was done to the environment, and what can be gone back to",
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
	if err := apply.Opened(placeOf(c).ForPlan().Dir, func(e *apply.Env) (err error) { h, err = e.History(); return err }); err != nil {
		return err
	}
	if file := c.String("html"); file != "" {
		if c.Bool("json") {
			return fail.Wrong("`--json` and `--html` are two answers: one of them", "`envfix history --html "+ui.Clean(file)+"`")
		}
		page, err := ui.HistoryPage(h, today())
		return writePage(file, page, err)
	}
	return answer(c.App.Writer, c.Bool("json"), h, ui.History(h, style(c.App.Writer)), fail.OK)
}
