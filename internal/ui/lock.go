package ui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/say"
	"envfix/internal/team"
)

// Profiles tells what a lock holds: what was asked for, and its profiles.
func Profiles(l *lock.Lock) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: matrix %s, needs envfix %s\n", lock.File, Clean(l.Matrix.Version), Clean(l.RequiresEnvfix))
	ask := func(what string, list []string) {
		b.WriteString(say.If(len(list) > 0, Hang("asked for: "+what, Clean(strings.Join(list, ", ")))))
	}
	ask("", l.Input.Requirements)
	for _, s := range l.Input.Sources {
		ask(s.Path+": ", slices.Concat(s.Requirements, s.Places))
	}
	for _, g := range l.Input.Groups {
		ask("--group "+g.Name+": ", g.Requirements)
	}
	for _, p := range l.Profiles {
		fmt.Fprintf(&b, "\n%s\n  for     %s\n  torch   %s", p.Name, p.Match.Text(), Clean(p.Torch))
		if p.CUDA != "" {
			fmt.Fprintf(&b, ", CUDA %s, cuDNN %s", Clean(p.CUDA), Clean(p.CuDNN))
		}
		fmt.Fprintf(&b, "\n  Python  %s\n  file    %s, %.1f GB to receive\n", Clean(p.Python), p.Pylock.File, float64(p.Size.Download)/1e9)
	}
	return b.String()
}

// Packages lists the packages: those that differ by version, then the rest.
func Packages(differ []team.Row, same []string) string {
	var b strings.Builder
	b.WriteString("\npackages\n")
	for _, r := range differ {
		var parts []string
		for _, v := range slices.Sorted(maps.Keys(r.Versions)) {
			if v != "" {
				parts = append(parts, v+" ("+strings.Join(r.Versions[v], ", ")+")")
			}
		}
		b.WriteString(Hang("  "+Clean(r.Package)+"  ", Clean(strings.Join(parts, ", "))))
	}
	b.WriteString(say.If(len(same) > 0, Hang("  all  ", Clean(strings.Join(same, ", ")))))
	return b.String()
}

// Differences says for every kind of machine what it gets and why, and in which
// packages they differ.
func Differences(l *lock.Lock, differ []team.Row, same []string) string {
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
		b.WriteString(Hang("  machine  ", p.Match.Text()))
		b.WriteString(Hang("  gets     ", Clean(fmt.Sprintf("torch %s, Python %s: %s", p.Torch, p.Python, why))))
	}
	b.WriteString("\npackages that differ\n")
	for _, r := range differ {
		fmt.Fprintf(&b, "  %s\n", Clean(r.Package))
		for _, v := range slices.Sorted(maps.Keys(r.Versions)) {
			what := say.Either(v == "", "none", v)
			b.WriteString(Hang(fmt.Sprintf("    %-20s ", Clean(what)), strings.Join(r.Versions[v], ", ")))
		}
	}
	fmt.Fprintf(&b, "\n%s the same everywhere\n", Count(len(same), "package"))
	return b.String()
}

// Locked says what was written, what of it is new, and what was changed or removed
// beside it.
func Locked(r *team.Result) string {
	var b strings.Builder
	for _, e := range r.Edits {
		fmt.Fprintf(&b, "%s\n", Clean(e))
	}
	l := r.Lock
	fmt.Fprintf(&b, "wrote %s and %s (matrix %s)\n", lock.File, Count(len(l.Profiles), "pylock file"), l.Matrix.Version)
	for _, p := range l.Profiles {
		b.WriteString(Hang(fmt.Sprintf("  %-12s ", p.Name),
			fmt.Sprintf("torch %s, Python %s, %s, for %s", p.Torch, p.Python, Size(p.Size.Download), p.Match.Text())))
	}
	for _, name := range r.Removed {
		fmt.Fprintf(&b, "removed %s\n", Clean(name))
	}
	section := func(title string, lines []string) {
		b.WriteString(say.If(len(lines) > 0, title+"\n"))
		for _, line := range say.Few(lines, 20, "… and %d more: `envfix lock diff HEAD`, where Git has the lock before") {
			b.WriteString(Hang("  ", Clean(line)))
		}
	}
	section("changed:", r.Changes)
	section("note:", r.Notes)
	return b.String()
}
