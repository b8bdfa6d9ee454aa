package ui

import (
	"fmt"
	"strings"

	"envfix/internal/observe/verdict"
	"envfix/internal/say"
)

// Verdict is what `envfix run` says at a job's end, for stderr: every line
// begins with envfix:, so that it can be told from the job's own. price is of an hour of
// one GPU; 0: not given.
func Verdict(r verdict.Report, price float64, s Style) string {
	var b strings.Builder
	add := func(indent, text string) {
		for _, l := range hung(Wrap(Clean(text), Width-1-len("envfix: ")-len(indent))) {
			b.WriteString("envfix: " + indent + l + "\n")
		}
	}
	b.WriteString("envfix: " + headline(r.Finding, s) + "\n")
	finding(&b, add, r.Finding)
	for _, o := range r.Others {
		b.WriteString("envfix: also " + headline(o, s) + "\n")
		finding(&b, add, o)
	}
	for _, p := range r.Processes {
		if t := p.Try; t != nil {
			add("", tried(*t))
		}
		if parts := stepParts(p); parts != "" {
			add("", parts)
		}
		for i, d := range p.Deep {
			if i == 0 {
				add("", deepTitle(p))
			}
			b.WriteString("envfix: " + Clip(d, Width-1-len("envfix: ")) + "\n") // a table keeps its columns
		}
	}
	if cost := idleCost(r, price); cost != "" {
		add("", cost)
	}
	for _, n := range r.Notes {
		add("", "note: "+n)
	}
	return b.String()
}

// headline is a verdict's id, what it means, and how sure it is.
func headline(f verdict.Finding, s Style) string {
	return s.Bold(Clean(f.Verdict)) + ": " + say.Either(f.Verdict == verdict.Healthy && f.Confidence == "low", "no cause was found", verdictTitle(f.Verdict)) + confidence(f)
}

func confidence(f verdict.Finding) string {
	return say.Either(f.Verdict == verdict.Healthy && f.Confidence == "high", "", " ("+f.Confidence+" confidence)")
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
	if g, ok := f.Gain["steps_per_s"]; ok {
		add("  ", fmt.Sprintf("gain: %s → %s steps a second at best", three(g[0]), three(g[1])))
	}
}

// three writes three digits, and never a power of ten.
func three(v float64) string {
	return say.Either(v >= 1000, fmt.Sprintf("%.0f", v), fmt.Sprintf("%.3g", v))
}

// deepTitle says what --deep lists.
func deepTitle(p verdict.ProcessReport) string {
	if p.Kernels {
		return fmt.Sprintf("slowest kernels on the GPU of PID %d, time and calls a step:", p.PID)
	}
	return fmt.Sprintf("slowest operators on the CPU of PID %d, time and calls a step (no kernel of a GPU was seen):", p.PID)
}

// stepParts are the parts of a step that take a tenth of it and more; "" where they
// were not measured.
func stepParts(p verdict.ProcessReport) string {
	total, words := 0.0, []string{}
	for _, part := range p.Parts {
		total += part.Seconds
	}
	for _, part := range p.Parts {
		if part.Seconds >= total/10 {
			words = append(words, fmt.Sprintf("%s %.0f %%", partName(part), 100*part.Seconds/total))
		}
	}
	if len(words) == 0 {
		return ""
	}
	step := say.Either(p.Unit != "", "a "+Clean(p.Unit), "a step")
	if p.Role == "rank" && p.Rank != nil {
		step = fmt.Sprintf("rank %d: a step", *p.Rank)
	}
	step += say.If(p.Passes >= 1.5, fmt.Sprintf(" of %.0f batches", p.Passes)) // gradients are accumulated
	return fmt.Sprintf("%s took %s ms, by %d looks at the loop: %s", step, three(total*1e3), p.Looks, strings.Join(words, ", "))
}

// partNames are the parts of a step that their own name says little of.
var partNames = map[string]string{"load": "waiting for the loader", "item": "loading samples", "collate": "collating", "data": "input", "copy": "copies to the device",
	"compile": "compiling", "sync": "waiting for the GPU", "python": "Python", "gc": "collecting garbage", "between": "between steps"}

func partName(part verdict.Part) string {
	if name := partNames[part.Name]; name != "" {
		return name
	}
	return Clean(part.Name)
}

func tried(t verdict.Try) string {
	if t.Error != "" {
		return fmt.Sprintf("tried %s: %s", t.Args, t.Error)
	}
	what := fmt.Sprintf("tried %s on a copy of the loader alone: %s samples a second before, %s with it; ", t.Args, three(t.RateB), three(t.RateA))
	switch {
	case t.Repeated > 0:
		return what + fmt.Sprintf("do not: of %d samples %d came a second time", t.Compared, t.Repeated)
	case t.Differ > 0:
		return what + fmt.Sprintf("do not: of %d samples %d are others", t.Compared, t.Differ)
	}
	return what + fmt.Sprintf("the same %d samples", t.Compared)
}
