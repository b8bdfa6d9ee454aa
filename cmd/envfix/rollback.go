package main

import (
	"fmt"

	"envfix/internal/apply"
	"envfix/internal/fail"
	"envfix/internal/say"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func rollbackAction(c *cli.Context) error {
	if did, err := asInvoker(); did {
		return err
	}
	if c.NArg() > 1 {
		return fail.Wrong("`envfix rollback` takes one ID at most", "`envfix history` lists them")
	}
	env := placeOf(c).ForPlan().Dir
	var before string
	var g apply.Generation
	if err := apply.Opened(env, func(e *apply.Env) (err error) {
		before = e.Current()
		g, err = e.Rollback(c.Args().First())
		return err
	}); err != nil {
		return err
	}
	what := say.Either(g.Adopted, "what was there before envfix", "torch "+g.Torch)
	defer apply.DropKernels(env, stderr())
	fmt.Fprintf(stderr(), "envfix: %s is %s again (%s)\n", ui.Clean(env), ui.Clean(what), ui.Clean(g.ID))
	if g.Adopted {
		fmt.Fprintln(stderr(), "envfix: nothing of it was proven here: `envfix doctor` says whether it works")
	}
	if before != "" && before != g.ID {
		fmt.Fprintf(stderr(), "envfix: `envfix rollback %s` goes forward again\n", ui.Clean(before))
	}
	return nil
}
