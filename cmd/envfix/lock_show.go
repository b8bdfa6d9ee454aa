package main

import (
	"fmt"
	"io"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func lockShowCommand() *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "show the profiles of the lock",
		Description: "EXAMPLES\n  envfix lock show\n  envfix lock show --json",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print JSON"}},
		Action: func(c *cli.Context) error {
			t, err := teamIn(lockDir())
			if err != nil {
				return err
			}
			l, err := t.Present()
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return writeJSON(c.App.Writer, lockShowAnswer{1, l})
			}
			_, err = io.WriteString(c.App.Writer, profilesText(l))
			return err
		},
	}
}
func profilesText(l *lock.Lock) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: matrix %s, needs envfix %s\n", lock.File, ui.Clean(l.Matrix.Version), ui.Clean(l.RequiresEnvfix))
	fmt.Fprintf(&b, "asked for: %s\n", ui.Clean(strings.Join(l.Input.Requirements, ", ")))
	for _, p := range l.Profiles {
		fmt.Fprintf(&b, "\n%s\n  for     %s\n  torch   %s", p.Name, p.Match.Text(), ui.Clean(p.Torch))
		if p.CUDA != "" {
			fmt.Fprintf(&b, ", CUDA %s, cuDNN %s", ui.Clean(p.CUDA), ui.Clean(p.CuDNN))
		}
		fmt.Fprintf(&b, "\n  Python  %s\n  file    %s, %.1f GB to receive\n", ui.Clean(p.Python), p.Pylock.File, float64(p.Size.Download)/1e9)
	}
	return b.String()
}

// A lockShowAnswer is the JSON of `envfix lock show`.
type lockShowAnswer struct {
	Format int        `json:"format"`
	Lock   *lock.Lock `json:"lock"`
}
