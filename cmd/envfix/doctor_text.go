package main

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/ui"
)

// shownFindings is how many findings fit a screen; -v shows all.
const shownFindings = 3

// shownEvidence is how many characters of a line are evidence enough: two lines.
const shownEvidence = 148

// where says in one line which environment was examined; "" none was. Where the one that
// is meant is not there yet, it is that of the Python which the shell runs.
func (f doctorFlags) where(p *read.Case) string {
	if p.Pasted || f.plan.machine.elsewhere() {
		return ""
	}
	at := f.plan.target.place
	if !at.named && !isEnvDir(at.dir) && p.Torch.Version != "" && p.Files != nil && p.Files.Dir != "" {
		return fmt.Sprintf("environment %s (of the first Python on PATH)\n", ui.Clean(p.Files.Dir))
	}
	return at.line() + "\n"
}

// doctorText is the report for people: the verdict, then what to do first.
func doctorText(r doctor.Report, p *read.Case, look ui.Style) string {
	var b strings.Builder
	if r.Process != nil {
		b.WriteString(processText(r.Process, look))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", ui.Clean(n))
	}
	if len(r.Findings) == 0 {
		b.WriteString(nothingFound(r, p, look))
	} else {
		b.WriteString(findingsText(r, p, look))
	}
	if look.Verbose {
		b.WriteString("\n" + factsText(r.Facts, look))
	}
	return b.String() + inUse(p, look)
}

// fixes names the command that mends what was found, where a plan can; "" none can.
func (f doctorFlags) fixes(r doctor.Report, p *read.Case) string {
	if p.Pasted || r.OK || r.Process != nil || f.plan.machine.elsewhere() {
		return ""
	}
	torch, _ := installedTorch(p)
	first := cureOf(&r, p).first
	if first < 0 || strings.HasPrefix(r.Findings[first].Cause, "driver_") { // which is not touched without leave
		return ""
	}
	if fix := r.Findings[first].Fix; torch == "" && len(fix) > 0 && !strings.HasPrefix(fix[0], "`envfix apply`") {
		return "" // no build fits, or none is for this machine: that says what helps
	}
	return "\n`" + again("--fix") + "` shows the plan that mends this, and asks\n"
}

// nothingFound says what it means that there is no finding.
func nothingFound(r doctor.Report, p *read.Case, look ui.Style) string {
	switch {
	case p.Pasted && !r.OK:
		if f := doctor.Heard(p); f != nil {
			return findingText(*f, true, look) + "\n" + nothingNamed
		}
		return nothingNamed
	case p.Pasted && !p.Says.Finished.IsZero():
		return "nothing is wrong, as far as this text goes: it shows the GPU at work\n" +
			look.Hang("    ", ui.Clip(ui.Clean(p.Says.Finished.String()), shownEvidence))
	case p.Pasted:
		return "nothing is wrong\n"
	case p.Torch.Version == "":
		return "no torch is installed here; besides, nothing is wrong\n\n" + look.Looked(p.Machine)
	}
	return "nothing is wrong\n\n" + look.Looked(p.Machine)
}

// findingsText shows the findings, the first as what to begin with.
func findingsText(r doctor.Report, p *read.Case, look ui.Style) string {
	var b strings.Builder
	notWell := func(f doctor.Finding) bool {
		return f.Severity > know.Note || f.Check == "PY002" || f.Check == "GPU004"
	}
	b.WriteString(say.If(r.OK && !slices.ContainsFunc(r.Findings, notWell), "nothing is wrong\n\n"))
	shown := r.Findings
	if !look.Verbose {
		shown = ownCauses(shown)
		shown = shown[:min(shownFindings, len(shown))]
	}
	for i, f := range shown {
		b.WriteString(say.If(i > 0, "\n"))
		b.WriteString(findingText(f, i == 0 && !r.OK, look))
	}
	b.WriteString(say.If(p.Pasted && !r.OK && r.Findings[0].Severity == know.Note, "\n"+nothingNamed))
	if n := len(r.Findings) - len(shown); n > 0 {
		fmt.Fprintf(&b, "\n%d more, less likely or a consequence; `-v` shows all\n", n)
	}
	return b.String()
}

// factsText lists what judging stands on, with its state and source.
func factsText(facts []doctor.Known, look ui.Style) string {
	var b strings.Builder
	b.WriteString("what this stands on\n")
	for _, k := range facts {
		what := say.Either(k.State == doctor.Seen, k.Value, string(k.State))
		what += say.If(k.Source != "" && !strings.HasSuffix(k.Source, k.Value) || k.Source != "" && k.Value == "", " ("+ui.Clip(k.Source, 70)+")")
		b.WriteString(look.Hang(fmt.Sprintf("  %-26s ", k.Fact), ui.Clip(what, 200)))
	}
	return b.String()
}

// ownCauses leaves out the faults that an earlier one explains, and those with the same
// first way out: they are its consequences, or say it again in other words.
func ownCauses(all []doctor.Finding) []doctor.Finding {
	var out []doctor.Finding
	for _, f := range all {
		if !slices.ContainsFunc(out, func(o doctor.Finding) bool {
			return slices.Contains(o.Explains, f.Check) && (o.Cause == f.Cause || o.Confidence >= doctor.Medium) ||
				o.Severity >= f.Severity && len(o.Fix) > 0 && len(f.Fix) > 0 && o.Fix[0] == f.Fix[0]
		}) {
			out = append(out, f)
		}
	}
	return out
}

const nothingNamed = `nothing here that names a cause

Paste more, in one file and in any order:
  python -m torch.utils.collect_env
  nvidia-smi
  the whole error message, from "Traceback" to its last line
or run envfix doctor on the machine itself
`

func findingText(f doctor.Finding, first bool, look ui.Style) string {
	var b strings.Builder
	b.WriteString(look.Paragraph(fmt.Sprintf("%s:", f.Severity), ui.Clean(f.Text), f.Severity >= know.Error))
	evidence, fix := f.Evidence, f.Fix
	if !look.Verbose {
		evidence, fix = evidence[:min(2, len(evidence))], fix[:min(5, len(fix))]
	}
	for _, e := range evidence {
		b.WriteString(look.Hang("    ", ui.Clip(e, shownEvidence)))
	}
	for _, x := range fix {
		mark := say.Either(first, "  => ", "  - ")
		b.WriteString(look.Hang(mark, ui.Clean(x)))
	}
	if look.Verbose {
		fmt.Fprintf(&b, "  %s, check %s, confidence %s\n", f.Cause, f.Check, f.Confidence)
		if len(f.Explains) > 0 {
			fmt.Fprintf(&b, "  explains %s\n", strings.Join(f.Explains, " "))
		}
	}
	return b.String()
}

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
