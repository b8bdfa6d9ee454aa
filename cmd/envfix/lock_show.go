package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/say"
	"envfix/internal/team"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func lockShowCommand() *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "show what is asked for, the profiles of the lock and their packages",
		Description: "EXAMPLES\n  envfix lock show\n  envfix lock show --matrix      what each kind of machine gets, and why\n  envfix lock show --json",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "matrix", Usage: "every kind of machine, why it gets what it gets, and the packages that differ"},
			jsonFlag("print JSON"),
		},
		Action: func(c *cli.Context) error {
			t := teamIn(lockDir())
			l, err := t.Present()
			if err != nil {
				return err
			}
			differ, same, err := t.Compare(l)
			if err != nil {
				return err
			}
			text := say.Either(c.Bool("matrix"), compareText(l, differ, same), profilesText(l)+packagesText(differ, same))
			return answer(c.App.Writer, c.Bool("json"), lockShowAnswer{1, l, append([]team.Row{}, differ...), append([]string{}, same...)}, text, fail.OK)
		},
	}
}

func profilesText(l *lock.Lock) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: matrix %s, needs envfix %s\n", lock.File, ui.Clean(l.Matrix.Version), ui.Clean(l.RequiresEnvfix))
	ask := func(what string, list []string) {
		b.WriteString(say.If(len(list) > 0, ui.Hang("asked for: "+what, ui.Clean(strings.Join(list, ", ")))))
	}
	ask("", l.Input.Requirements)
	for _, s := range l.Input.Sources {
		ask(s.Path+": ", slices.Concat(s.Requirements, s.Places))
	}
	for _, g := range l.Input.Groups {
		ask("--group "+g.Name+": ", g.Requirements)
	}
	for _, p := range l.Profiles {
		fmt.Fprintf(&b, "\n%s\n  for     %s\n  torch   %s", p.Name, p.Match.Text(), ui.Clean(p.Torch))
		if p.CUDA != "" {
			fmt.Fprintf(&b, ", CUDA %s, cuDNN %s", ui.Clean(p.CUDA), ui.Clean(p.CuDNN))
		}
		fmt.Fprintf(&b, "\n  Python  %s\n  file    %s, %.1f GB to receive\n", ui.Clean(p.Python), p.Pylock.File, float64(p.Size.Download)/1e9)
	}
	return b.String()
}

// packagesText lists the packages: those that differ by version, then the rest.
func packagesText(differ []team.Row, same []string) string {
	var b strings.Builder
	b.WriteString("\npackages\n")
	for _, r := range differ {
		var parts []string
		for _, v := range slices.Sorted(maps.Keys(r.Versions)) {
			if v != "" {
				parts = append(parts, v+" ("+strings.Join(r.Versions[v], ", ")+")")
			}
		}
		b.WriteString(ui.Hang("  "+ui.Clean(r.Package)+"  ", ui.Clean(strings.Join(parts, ", "))))
	}
	b.WriteString(say.If(len(same) > 0, ui.Hang("  all  ", ui.Clean(strings.Join(same, ", ")))))
	return b.String()
}

// compareText says for every kind of machine what it gets and why, and in which
// packages they differ.
func compareText(l *lock.Lock, differ []team.Row, same []string) string {
	var b strings.Builder
	for _, p := range l.Profiles {
		why := "a machine without a GPU that torch computes with"
		switch {
		case p.Match.Driver != "":
			why = fmt.Sprintf("build %s, which driver %s and GPUs of %s run", p.Build, p.Match.Driver, strings.Join(p.Match.SMs, ", "))
		case p.Match.GPU != "none":
			why = "build " + p.Build + ", which " + p.Match.GPU + " GPUs run"
		}
		fmt.Fprintf(&b, "%s\n", p.Name)
		b.WriteString(ui.Hang("  machine  ", p.Match.Text()))
		b.WriteString(ui.Hang("  gets     ", ui.Clean(fmt.Sprintf("torch %s, Python %s: %s", p.Torch, p.Python, why))))
	}
	b.WriteString("\npackages that differ\n")
	for _, r := range differ {
		fmt.Fprintf(&b, "  %s\n", ui.Clean(r.Package))
		for _, v := range slices.Sorted(maps.Keys(r.Versions)) {
			what := say.Either(v == "", "none", v)
			b.WriteString(ui.Hang(fmt.Sprintf("    %-20s ", ui.Clean(what)), strings.Join(r.Versions[v], ", ")))
		}
	}
	fmt.Fprintf(&b, "\n%s the same everywhere\n", ui.Count(len(same), "package"))
	return b.String()
}

// A lockShowAnswer is the JSON of `envfix lock show`.
type lockShowAnswer struct {
	Format int        `json:"format"`
	Lock   *lock.Lock `json:"lock"`
	Differ []team.Row `json:"differ"` // packages in which the profiles differ
	Same   []string   `json:"same"`   // name and version of those that all have alike
}
