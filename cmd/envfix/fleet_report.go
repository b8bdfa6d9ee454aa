package main

import (
	"os"
	"path/filepath"

	"envfix/internal/fail"
	"envfix/internal/fleet"
	"envfix/internal/lock"
	"envfix/internal/team"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func fleetReportAction(c *cli.Context) error {
	since, err := oldest(c.Int("stale"))
	if err != nil {
		return err
	}
	if c.NArg() == 0 {
		return fail.Wrong("which results? no file or folder is named",
			"`envfix verify --static --json` on each machine prints what is read here")
	}
	l, err := reportLock(c.String("lock"))
	if err != nil {
		return err
	}
	results := fleet.NewResults()
	if err := collect(results, c.Args().Slice(), "`envfix verify --static --json` on a machine prints what is read here"); err != nil {
		return err
	}
	r := results.Report(l, since)
	if file := c.String("html"); file != "" {
		page, err := ui.FleetPage(r)
		if err := writePage(file, page, err); err != nil {
			return err
		}
	}
	return answer(c.App.Writer, c.Bool("json"), fleetReportAnswer{1, r}, ui.FleetReport(r, style(c.App.Writer)),
		fail.CodeIf(r.Count[fleet.Right] < r.Machines, fail.Pending))
}

// reportLock is the lock that machines are compared with; nil: none.
func reportLock(path string) (*lock.Lock, error) {
	if path == "none" {
		return nil, nil
	}
	if path == "" {
		path = filepath.Join(lockDir(), lock.File)
		if _, err := os.Stat(path); err != nil {
			return nil, nil
		}
	}
	l, _, err := team.At(path)
	return l, err
}

// A fleetReportAnswer is the JSON of `envfix fleet report`.
type fleetReportAnswer struct {
	Format int `json:"format"`
	*fleet.Report
}
