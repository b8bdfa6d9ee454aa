package ui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
)

// GPUUse is a table of what each GPU is doing, in at most [Width] columns; "" where
// that was not asked. Verbose names everything that could not be read.
func GPUUse(m machine.Machine, verbose bool, s Style) string {
	var b strings.Builder
	for _, g := range m.GPUs {
		if g.Use == nil {
			continue
		}
		b.WriteString(say.If(b.Len() == 0, s.Bold("GPUs in use")+"\n"))
		b.WriteString("  " + useLine(g) + "\n")
		for _, l := range processLines(m, g.Use) {
			b.WriteString("       " + l + "\n")
		}
		for _, l := range Wrap(strings.Join(useState(g, verbose), "; "), Width-8) {
			b.WriteString(say.With("       ", l, "\n"))
		}
	}
	if l := m.KernelLog; l != nil && b.Len() > 0 {
		for _, line := range hung(Wrap(kernelLogLine(l), Width-3)) {
			b.WriteString("  " + line + "\n")
		}
	}
	return b.String()
}

// useLine is one GPU: its number, name, memory, load and temperature.
func useLine(g machine.GPU) string {
	u := g.Use
	name := g.Name + say.With(" MIG ", g.MIG, "")
	used := "memory unknown"
	switch {
	case u.MemoryUsed != nil && g.MemoryBytes > 0:
		used = fmt.Sprintf("%.1f of %s", float64(*u.MemoryUsed)/(1<<30), machine.GiB(g.MemoryBytes))
	case u.MemoryUsed != nil:
		used = machine.GiB(*u.MemoryUsed)
	}
	line := fmt.Sprintf("%2d  %s  %18s", g.Index, padded(name, 34), used)
	if u.Utilization != nil {
		line += fmt.Sprintf("  %3d %%", *u.Utilization)
	}
	if u.Temperature != nil {
		line += fmt.Sprintf("  %3d °C", *u.Temperature)
	}
	return strings.TrimRight(line, " ")
}

// padded is a text of others in exactly n columns.
func padded(text string, n int) string {
	text = Clip(text, n)
	return text + strings.Repeat(" ", max(0, n-columns(text)))
}

// shownProcesses is how many processes of a GPU are listed.
const shownProcesses = 6

// processLines are the processes of a GPU, and what cannot be seen of them.
func processLines(m machine.Machine, u *machine.GPUUse) []string {
	var lines []string
	if u.Processes == nil {
		lines = append(lines, "processes unknown: "+Clip(u.Unread["processes"], 50))
	}
	seen := slices.DeleteFunc(slices.Clone(u.Processes), func(p machine.Process) bool { return p.Unseen != "" })
	lines = append(lines, say.Few(text.Each(seen, func(p machine.Process) string {
		memory := "-"
		if p.Memory != nil {
			memory = machine.GiB(*p.Memory)
		}
		return strings.TrimRight(fmt.Sprintf("%8d  %s  %9s  %s", p.PID, padded(p.User, 10), memory, Clip(p.Command, 34)), " ")
	}), shownProcesses, "and %d more")...)
	if w := m.UnseenWords(u); w != "" {
		lines = append(lines, Wrap(w, Width-8)...)
	}
	return lines
}

// throttleWords say what slows a GPU.
var throttleWords = map[string]string{
	machine.ThrottlePowerCap: "its power limit", machine.ThrottleHWSlowdown: "the hardware", machine.ThrottleHeat: "heat",
	machine.ThrottleHWHeat: "heat (the hardware's own limit)", machine.ThrottlePowerBrake: "the power supply",
}

// useState are the things to know of a GPU beside its load: what is not as usual,
// and what could not be read.
func useState(g machine.GPU, verbose bool) []string {
	u := g.Use
	var out []string
	if u.ComputeMode != "default" {
		out = append(out, say.With("compute mode ", strings.ReplaceAll(Clip(u.ComputeMode, 20), "_", " "), ""))
	}
	slowed := say.List(", ", text.Each(u.Throttle, func(t string) string { return throttleWords[t] })...)
	out = say.All(append(out, say.If(g.MIGMode, "MIG without instances"), say.If(u.Persistence != nil && !*u.Persistence && verbose, "persistence mode off"),
		say.With("slowed by ", slowed, ""))...)
	out = append(out, memoryHealth(u, verbose)...)
	if names := slices.Sorted(maps.Keys(u.Unread)); verbose && len(names) > 0 {
		byReason := map[string][]string{}
		for _, n := range names {
			byReason[u.Unread[n]] = append(byReason[u.Unread[n]], Clip(n, 40))
		}
		for _, why := range slices.Sorted(maps.Keys(byReason)) {
			out = append(out, fmt.Sprintf("unknown (%s): %s", Clip(why, 60), strings.Join(byReason[why], ", ")))
		}
	}
	return out
}

// memoryHealth says what is wrong with a GPU's memory; verbose, also that nothing
// is.
func memoryHealth(u *machine.GPUUse, verbose bool) []string {
	var out []string
	if e := u.ECC; e != nil {
		switch {
		case !e.Enabled && verbose:
			out = append(out, "ECC off")
		case e.Volatile != nil && *e.Volatile > 0:
			out = append(out, fmt.Sprintf("%d uncorrectable memory errors since the driver was loaded", *e.Volatile))
		case e.Enabled && e.Volatile != nil && verbose:
			out = append(out, "no uncorrectable memory errors since the driver was loaded")
		}
		if e.Aggregate != nil && *e.Aggregate > 0 && verbose {
			out = append(out, fmt.Sprintf("%d over its life", *e.Aggregate))
		}
	}
	const waits = " of memory waits for a reset of the GPU"
	if r := u.Remapped; r != nil {
		out = append(out, say.Either(r.Failed, "remapping a row of memory failed", say.If(r.Pending, "a row"+waits)))
	}
	return say.All(append(out, say.If(u.Retiring != nil && *u.Retiring, "a page"+waits))...)
}

func kernelLogLine(l *machine.KernelLog) string {
	switch n := len(l.Errors); {
	case l.Refused != "":
		return "kernel log not read: " + Clip(l.Refused, 200)
	case n == 0:
		return "kernel log (" + Clip(l.Source, 40) + "): no errors of GPUs"
	default:
		kinds := text.Each(l.Errors[:min(n, 8)], func(e machine.KernelError) string {
			return fmt.Sprintf("%s %d (%d)", say.Either(e.Switch, "SXid", "Xid"), e.Number, e.Count)
		})
		return "kernel log (" + Clip(l.Source, 40) + "): " + strings.Join(kinds, ", ")
	}
}
