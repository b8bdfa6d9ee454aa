package main

import (
	"envfix/internal/apply"
	"envfix/internal/fail"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

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
