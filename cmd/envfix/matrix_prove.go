package main

import (
	"time"

	"envfix/internal/fail"
	"envfix/internal/maintain"
	"envfix/internal/pep508"

	"github.com/urfave/cli/v2"
)

func matrixProveAction(c *cli.Context) error {
	q := maintain.ProveQuery{OS: c.String("os"), Arch: c.String("arch"), Stack: c.Bool("stack"), Missing: c.Bool("missing"),
		Record: c.String("record"), Today: today()}
	beside, err := pep508.Parse(c.Args().First(), "")
	ofTorch := err != nil || c.NArg() != 1 || beside.Name == "torch"
	if ofTorch {
		var label string
		if q.Torch, label, err = torchArgument(c); err != nil {
			return err
		}
		if label != "" {
			return fail.Wrong("a label does not choose wheels here",
				"`--index https://download.pytorch.org/whl/"+label+"` does")
		}
	}
	started := time.Now()
	r, err := fromIndex(c.Context, c.String("index"), func(x *maintain.Index, told maintain.Progress) (*maintain.Report, error) {
		if q.Progress = told; ofTorch {
			return maintain.Prove(c.Context, x, matrixFor(), q)
		}
		return maintain.ProvePackage(c.Context, x, matrixFor(), beside, told)
	})
	if err != nil {
		return err
	}
	return answer(c.App.Writer, c.Bool("json"), r, r.Text(c.Bool("verbose"), time.Since(started)), fail.CodeIf(r.Agree < len(r.Rows), fail.Failed))
}
