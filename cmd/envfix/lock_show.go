package main

import (
	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/say"
	"envfix/internal/team"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func lockShowCommand() *cli.Command {
	return declared("lock show", func(c *cli.Context) error {
		t := teamIn(lockDir())
		l, err := t.Present()
		if err != nil {
			return err
		}
		differ, same, err := t.Compare(l)
		if err != nil {
			return err
		}
		text := say.Either(c.Bool("matrix"), ui.Differences(l, differ, same), ui.Profiles(l)+ui.Packages(differ, same))
		return answer(c.App.Writer, c.Bool("json"), lockShowAnswer{1, l, append([]team.Row{}, differ...), append([]string{}, same...)}, text, fail.OK)
	})
}

// A lockShowAnswer is the JSON of `envfix lock show`.
type lockShowAnswer struct {
	Format int        `json:"format"`
	Lock   *lock.Lock `json:"lock"`
	Differ []team.Row `json:"differ"` // packages in which the profiles differ
	Same   []string   `json:"same"`   // name and version of those that all have alike
}
