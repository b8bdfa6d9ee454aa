package main

import (
	"slices"

	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/ui"
)

// inUse is the table of what the GPUs are doing, with a blank line before it: with
// -v always, else where there is something to see in it.
func inUse(p *read.Case, look ui.Style) string {
	if p.Pasted || !look.Verbose && !slices.ContainsFunc(p.Machine.GPUs, worthShowing) {
		return ""
	}
	if table := ui.GPUUse(p.Machine, look.Verbose, ui.Style{}); table != "" {
		return "\n" + table
	}
	return ""
}

// worthShowing reports whether somebody works on a GPU, or its memory is used.
func worthShowing(g machine.GPU) bool {
	u := g.Use
	return u != nil && (len(u.Processes) > 0 || u.MemoryUsed != nil && *u.MemoryUsed >= 1<<30)
}
