package ui

import (
	"fmt"
	"strings"

	"envfix/internal/observe/verdict"
)

// Verdict is what `envfix run` says at a job's end, for stderr: every line
// begins with envfix:, so that it can be told from the job's own.
func Verdict(r verdict.Report, s Style) string {
	var b strings.Builder
	add := func(indent, text string) {
		for i, l := range Wrap(Clean(text), Width-1-len("envfix: ")-len(indent)) {
			if i > 0 {
				l = "  " + l
			}
			b.WriteString("envfix: " + indent + l + "\n")
		}
	}
	b.WriteString("envfix: " + s.Bold(r.Verdict) + confidence(r.Finding) + "\n")
	finding(&b, add, r.Finding)
	for _, o := range r.Others {
		b.WriteString("envfix: also " + s.Bold(o.Verdict) + confidence(o) + "\n")
		finding(&b, add, o)
	}
	for _, p := range r.Processes {
		if t := p.Try; t != nil {
			add("", tried(*t))
		}
		for i, d := range p.Deep {
			if i == 0 {
				add("", fmt.Sprintf("costliest operators of PID %d, a step:", p.PID))
			}
			add("  ", d)
		}
	}
	for _, n := range r.Notes {
		add("", "note: "+n)
	}
	return b.String()
}

func confidence(f verdict.Finding) string {
	if f.Verdict == verdict.Healthy && f.Confidence == "high" {
		return ""
	}
	return " (" + f.Confidence + " confidence)"
}

func finding(b *strings.Builder, add func(indent, text string), f verdict.Finding) {
	add("  ", f.Text)
	for _, fix := range f.Fix {
		first, rest, _ := strings.Cut(fix, "\n")
		add("  ", "do: "+first)
		for line := range strings.Lines(rest) { // a diff keeps its shape
			b.WriteString("envfix:     " + Clean(strings.TrimRight(line, "\n")) + "\n")
		}
	}
	for _, k := range []string{"steps_per_s"} {
		if g, ok := f.Gain[k]; ok {
			add("  ", fmt.Sprintf("gain: %.3g → %.3g steps a second at best", g[0], g[1]))
		}
	}
}

func tried(t verdict.Try) string {
	if t.Error != "" {
		return fmt.Sprintf("tried %s: %s", t.Args, t.Error)
	}
	return fmt.Sprintf("tried %s for %d steps: %.3g ms a step before (%.3g ms of it waiting for data), %.3g ms with it (%.3g ms); changed back",
		t.Args, t.Steps, t.Before*1e3, t.LoadB*1e3, t.After*1e3, t.LoadA*1e3)
}
