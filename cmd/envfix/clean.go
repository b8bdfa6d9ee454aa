package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"envfix/internal/apply"
	"envfix/internal/cmdline"
	"envfix/internal/fail"
	"envfix/internal/system"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func cleanCommand() *cli.Command {
	return declared("clean", cmdline.Taking(0, func(c *cli.Context) error {
		return apply.Opened(placeOf(c).ForPlan().Dir, func(e *apply.Env) error { return clean(c, e) })
	}))
}

func clean(c *cli.Context, e *apply.Env) error {
	out := c.App.Writer
	gens, frees, err := e.Left()
	if err != nil {
		return err
	}
	for _, g := range gens {
		fmt.Fprintf(out, "environment  %s, torch %s, of %s\n", ui.Clean(g.ID), cmp.Or(ui.Clean(g.Torch), "none"), ui.Clean(g.Created))
	}
	if len(gens) > 0 {
		fmt.Fprintf(out, "to remove    %s, which frees %s\n", ui.Count(len(gens), "environment"), ui.Size(frees))
	}
	if user, err := os.UserCacheDir(); err == nil {
		uv := cmp.Or(os.Getenv("UV_CACHE_DIR"), filepath.Join(user, "uv"))
		fmt.Fprintf(out, "uv's cache   %s: %s of its own; `uv cache prune` removes what nothing needs\n", ui.Clean(uv), ui.Size(sizeOf(uv)))
		own := filepath.Join(user, "envfix")
		fmt.Fprintf(out, "envfix's     %s: %s of its own; it may be removed at any time\n", ui.Clean(own), ui.Size(sizeOf(own)))
	}
	if len(gens) == 0 {
		return nil
	}
	if !c.Bool("yes") {
		if !canAsk() {
			return fail.Wrong("there is no terminal to ask on", "`envfix clean --yes` does not ask")
		}
		if a, err := ask(c.Context, "remove? nothing is there to roll back to then [y/N] "); err != nil || a != "y" && a != "yes" {
			return err
		}
	}
	said, err := e.Clean()
	for _, line := range said {
		fmt.Fprintln(out, ui.Clean(line))
	}
	return err
}

// sizeOf is what a directory has on the disk that no other place has.
func sizeOf(dir string) (n int64) {
	seen := map[any]int{}
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what cannot be read is not counted
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += system.Frees(info, seen)
			}
		}
		return nil
	})
	return n
}
