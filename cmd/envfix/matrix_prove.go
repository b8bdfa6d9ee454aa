package main

import (
	"time"

	"envfix/internal/fail"
	"envfix/internal/maintain"
	"envfix/internal/pep508"

	"github.com/urfave/cli/v2"
)

func matrixProveCommand() *cli.Command {
	return &cli.Command{
		Name:      "prove",
		Usage:     "read the wheels of an index and compare them with the data",
		ArgsUsage: "[torch==VERSION|REQUIREMENT]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "index", Usage: "read the simple index at `URL`"},
			&cli.StringFlag{Name: "os", Value: "linux", Usage: "prove the rows of `SYSTEM`: linux, windows or macos"},
			&cli.StringFlag{Name: "arch", Usage: "only the rows of `ARCH`: x86_64, aarch64 or arm64"},
			&cli.BoolFlag{Name: "stack", Usage: "also count the GPU code in the CUDA libraries that the builds pin; reads over 1 GB per build, once"},
			&cli.BoolFlag{Name: "json", Usage: "print every comparison as JSON"},
			&cli.BoolFlag{Name: "missing", Usage: "with --stack: instead of everything, read the libraries of all builds that the data has no row for"},
			&cli.StringFlag{Name: "record", Usage: "write what was read into the data in `DIR`: sizes and hashes, and with --stack libraries without a row"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "print every comparison"},
		},
		Action: matrixProveAction,
	}
}

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
