package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/probe"
	"envfix/resolver"

	"github.com/urfave/cli/v2"
)

// carryFlags say which packages of the environment that is replaced are not
// carried over.
func carryFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "drop", Usage: "do not carry the package `NAME` over; repeat it for several"},
		&cli.BoolFlag{Name: "fresh", Usage: "carry no package over"},
	}
}

// gatherCarry reads what the environment holds that is replaced, and what of it
// shall be left behind.
func gatherCarry(c *cli.Context, h machine.Machine, t *plan.Target) error {
	t.Fresh = c.Bool("fresh")
	for _, name := range c.StringSlice("drop") {
		q, err := pep508.Parse(name, "")
		if err != nil || q.Name != machine.NormalName(name) {
			return badValue("drop", name, "write the name of a package alone, such as `--drop xformers`")
		}
		t.Drop = append(t.Drop, q.Name)
	}
	slices.Sort(t.Drop)
	t.Drop = slices.Compact(t.Drop)
	for _, path := range c.StringSlice("requirements") {
		if p, err := projectFile(path); err == nil && p.Hashed { // an error was reported when the request was read
			t.Listed = path
		}
	}
	if c.IsSet("facts") && c.Command.Name != "apply" {
		if slices.ContainsFunc(h.Pythons, func(p machine.Python) bool { return p.Active && p.Source == "venv" }) {
			t.Held = machine.HeldFrom(h)
		}
		return nil
	}
	t.Held = probe.Held(probeOptions(t.Dir))
	return nil
}

// heldCompanions are torch's companions in the environment that is replaced: the
// new one has them too where they exist.
func heldCompanions(t plan.Target) []string {
	if t.Held == nil || t.Fresh && !t.InPlace {
		return nil
	}
	var out []string
	for _, d := range t.Held.Dists {
		if slices.Contains(resolver.Companions(), d.Name) && !slices.Contains(t.Drop, d.Name) {
			out = append(out, d.Name)
		}
	}
	return out
}

// uvLockWarning says that a project's own lock will undo the plan; "" there is
// none.
func uvLockWarning(t plan.Target) string {
	if t.Held == nil || t.Manager == "uv-project" {
		return ""
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(t.Dir), "uv.lock")); err != nil {
		return ""
	}
	return fmt.Sprintf("uv.lock lies beside %s: the next `uv sync` puts back what it says; `--manager uv-project` changes the project instead", t.Dir)
}
