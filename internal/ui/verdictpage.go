package ui

import (
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"envfix/internal/observe/verdict"
	"envfix/internal/say"
)

//go:embed verdict.html
var verdictHTML string

// A timeline is one line of the timeline, as an SVG path in a box of 1000 × 100.
type timeline struct {
	Title, Unit string
	Top         string
	Line, Area  string
}

// VerdictPage is one page of HTML with the verdict and the timeline. It loads
// nothing from anywhere and holds no script.
func VerdictPage(t *verdict.Trace, r verdict.Report) ([]byte, error) {
	data := struct {
		Report  verdict.Report
		Causes  []verdict.Finding
		Command string
		Charts  []timeline
		Seconds string
		Steps   []stepBar
		Idle    string
	}{r, append([]verdict.Finding{r.Finding}, r.Others...), Clean(strings.Join(t.Command, " ")), charts(t),
		fmt.Sprintf("%.0f", t.Seconds), stepBars(r), idleCost(r, 0)}
	return reportPage(verdictHTML, template.FuncMap{"lines": strings.Split, "three": three, "words": verdictTitle,
		"unit":    func(key string) string { return say.Either(key == "steps_per_s", "steps a second", Clean(key)) }, // what a gain counts
		"percent": func(share *float64) string { return fmt.Sprintf("%.0f %%", 100**share) }}, data)
}

// A stepBar is a process's step in its parts, each with its place in a box of 1000.
type stepBar struct {
	PID, Total string
	Parts      []stepPart
}

type stepPart struct {
	Name, Words string
	X, Width    string
	Class       int
}

func stepBars(r verdict.Report) (out []stepBar) {
	for _, p := range r.Processes {
		total, x := 0.0, 0.0
		for _, part := range p.Parts {
			total += part.Seconds
		}
		if total <= 0 {
			continue
		}
		bar := stepBar{PID: fmt.Sprint(p.PID), Total: three(total*1e3) + " ms"}
		for i, part := range p.Parts {
			w := 1000 * part.Seconds / total
			bar.Parts = append(bar.Parts, stepPart{Name: partName(part), Words: fmt.Sprintf("%.0f %%, %s ms", w/10, three(part.Seconds*1e3)),
				X: fmt.Sprintf("%.1f", x), Width: fmt.Sprintf("%.1f", w), Class: i % 6})
			x += w
		}
		out = append(out, bar)
	}
	return out
}

func charts(t *verdict.Trace) (out []timeline) {
	for i, g := range t.GPUs {
		name := fmt.Sprintf("GPU %d", g.Index)
		out = append(out, line(t, name+" utilisation", "%", 100, func(f verdict.Frame) (float64, bool) {
			if i >= len(f.GPUs) || f.GPUs[i].N == 0 {
				return 0, false
			}
			return f.GPUs[i].Util / float64(f.GPUs[i].N), true
		}))
		if g.Memory > 0 {
			out = append(out, line(t, name+" memory", "GiB", float64(g.Memory)/1024, func(f verdict.Frame) (float64, bool) {
				if i >= len(f.GPUs) {
					return 0, false
				}
				return float64(f.GPUs[i].Used) / 1024, true
			}))
		}
	}
	if slices.ContainsFunc(t.Processes, func(p verdict.Process) bool { return p.Probe != nil && p.Probe.Page.Batches > 0 }) {
		out = append(out, line(t, "waiting for data", "% of the time", 100, func(f verdict.Frame) (float64, bool) {
			if f.Steps == 0 || f.Span <= 0 {
				return 0, false
			}
			return min(100, 100*f.Load/f.Span), true
		}))
	}
	most := 1.0
	for _, f := range t.Frames {
		if f.Span > 0 {
			most = max(most, f.CPU/f.Span)
		}
	}
	return append(out, line(t, "CPU of the job", "cores", most, func(f verdict.Frame) (float64, bool) {
		if f.Span <= 0 {
			return 0, false
		}
		return f.CPU / f.Span, true
	}))
}

// line draws a measurement over time. Where it is unknown the line is broken.
func line(t *verdict.Trace, title, unit string, top float64, of func(verdict.Frame) (float64, bool)) timeline {
	out := timeline{Title: title, Unit: unit, Top: fmt.Sprintf("%.3g", top)}
	var points []string // of the piece of line that is drawn
	end, first, last := max(t.Seconds, 0.001), 0.0, 0.0
	for _, f := range append(slices.Clone(t.Frames), verdict.Frame{Span: -1}) {
		if v, ok := of(f); ok && f.Span >= 0 {
			last = min(1000, 1000*(f.At+f.Span/2)/end)
			first = say.Either(points == nil, last, first)
			points = append(points, fmt.Sprintf("%.1f %.1f", last, 100-100*min(1, max(0, v/top))))
		} else if points != nil {
			piece := strings.Join(points, "L")
			out.Line += "M" + piece
			out.Area += fmt.Sprintf("M%.1f 100L%sL%.1f 100Z", first, piece, last)
			points = nil
		}
	}
	return out
}
