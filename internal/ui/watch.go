package ui

import (
	"fmt"
	"path"
	"strings"
	"time"

	"envfix/internal/observe/verdict"
	"envfix/internal/say"
	"envfix/internal/text"
)

// bar draws a share of ten cells.
func bar(percent float64) string {
	n := int(min(max(percent, 0), 100)/10 + 0.5)
	return strings.Repeat("#", n) + strings.Repeat("-", 10-n)
}

func gib(mib int64) string { return fmt.Sprintf("%.1f", float64(mib)/1024) }

// Watch draws the live view below its head, each line at most width columns.
func Watch(w verdict.View, head string, width int, s Style) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, Clip(Clean(fmt.Sprintf(format, args...)), width)) }
	add("envfix watch  %s%s", timeOf(w), head)
	out[0] = s.Bold(out[0])
	if len(w.GPUs) == 0 {
		add("no GPU to watch here; `envfix doctor` says why")
	} else {
		add("GPU  busy               memory GiB     power   temp  clock")
	}
	for _, g := range w.GPUs {
		add("%-3d  %-17s  %-13s  %-6s  %-5s %-6s %s", g.Index, utilWords(g.Util), gib(g.MemoryUsed)+"/"+gib(g.MemoryTotal), number(g.Power, " W", 1),
			number(g.Temperature, " °C", 1), number(g.Clock, " %", 100), say.With("slowed by ", g.Slowed, ""))
		if g.Name != "" {
			add("     %s", g.Name)
		}
	}
	if len(w.Processes) > 0 {
		add("")
		add("    PID  user      GPU  GiB     CPU  steps/s  waits for           command")
	}
	for _, p := range say.Few(text.Each(w.Processes, func(p verdict.ProcessView) string {
		return fmt.Sprintf("%7d  %-8s  %-3s  %-5s  %4.1f  %-7s  %-18s  %s", p.PID, Clip(p.User, 8), list(p.GPUs), memory(p), p.CPU,
			number(p.StepsPer, "", 1), Clip(p.Waits, 18), brief(p.Command))
	}), 20, "    … and %d more") {
		add("%s", p)
	}
	if len(w.GPUs) == 0 && len(w.Processes) == 0 {
		add("no process with PyTorch either; start one with `envfix run -- python train.py`")
	}
	if w.Verdict != "" {
		add("")
		for _, l := range hung(Wrap(w.Verdict+" so far: "+Clean(w.Text), width-2)) {
			out = append(out, Clip(l, width))
		}
	}
	for _, n := range w.Notes {
		out = append(out, text.Each(Wrap("note: "+Clean(n), width-2), func(l string) string { return s.Dim(Clip(l, width)) })...)
	}
	return out
}

// timeOf is a view's time of day.
func timeOf(w verdict.View) string {
	t, err := time.Parse(time.RFC3339, w.Time)
	return say.If(err == nil, t.Format("15:04:05"))
}

// brief leaves the folders of a command's first two words out: on a narrow screen
// they would hide the script behind its interpreter's path.
func brief(command string) string {
	words := strings.SplitN(command, " ", 3)
	for i, w := range words[:min(len(words), 2)] {
		if base := path.Base(w); strings.Contains(w, "/") && base != "." && base != "/" {
			words[i] = base
		}
	}
	return strings.Join(words, " ")
}

func utilWords(u *float64) string {
	if u == nil {
		return "not measurable"
	}
	return fmt.Sprintf("%s %3.0f %%", bar(*u), *u)
}

// number writes what was measured; without a unit, in three digits.
func number[T int | float64](v *T, unit string, scale float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(say.Either(unit == "", "%.3g%s", "%.0f%s"), float64(*v)*scale, unit)
}

func list(gpus []int) string {
	return say.Either(len(gpus) == 0, "-", strings.ReplaceAll(strings.Trim(fmt.Sprint(gpus), "[]"), " ", ","))
}

func memory(p verdict.ProcessView) string {
	return say.Either(len(p.GPUs) == 0, "-", gib(p.Memory))
}

// WatchLine is the live view in one line, for pipes and scripts.
func WatchLine(w verdict.View) string {
	parts := []string{timeOf(w)}
	for _, g := range w.GPUs {
		u := say.Either(g.Util == nil, "not measurable", number(g.Util, "%", 1))
		parts = append(parts, fmt.Sprintf("gpu%d %s %s/%sGiB", g.Index, u, gib(g.MemoryUsed), gib(g.MemoryTotal))+say.With(" slowed by ", g.Slowed, ""))
	}
	if len(w.GPUs) == 0 {
		parts = append(parts, "no gpu")
	}
	parts = append(parts, say.Few(text.Each(w.Processes, func(p verdict.ProcessView) string {
		return fmt.Sprintf("pid %d %s waits for %s", p.PID, p.User, p.Waits) + say.If(len(p.GPUs) > 0, fmt.Sprintf(" gpu %s %sGiB", list(p.GPUs), memory(p)))
	}), 8, "%d more")...)
	if w.Verdict != "" && w.Verdict != verdict.NoGPU {
		parts = append(parts, w.Verdict)
	}
	return Clean(strings.Join(parts, " | "))
}
