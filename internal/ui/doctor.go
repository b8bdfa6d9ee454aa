package ui

import (
	"fmt"
	"slices"
	"strings"

	"envfix/installers"
	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// Handwork lists what is left to a person: everything that is wrong, or what a
// plan does not mend.
func Handwork(findings []doctor.Finding, p *plan.Plan) string {
	var lines []string
	for _, f := range findings {
		if f.Severity == know.Note || len(f.Fix) == 0 || p != nil && f.Elsewhere == "" &&
			doctor.WayOf(know.Embedded(), f, findings) != doctor.NoWay {
			continue
		}
		lines = xslices.Add(lines, "by hand: "+Clean(f.Fix[0]))
	}
	return say.If(len(lines) > 0, "\n"+strings.Join(lines, "\n")+"\n")
}

// UseIt says what a shell that is open must do, where variables were at fault.
func UseIt(p *plan.Plan) string {
	for _, x := range p.EnvFixes {
		if installers.Unset(p.Steps, x) {
			return "\nA shell that is open keeps it until `unset " + x.Variable + "`\n"
		}
	}
	for _, s := range p.Steps {
		if s.ID == "activate" {
			return "\nA shell that is open keeps its variables until `. " + text.Command(p.Target.Dir+"/bin/activate") + "`\n"
		}
	}
	return ""
}

// processText says in a few lines what process was looked at.
func processText(r *machine.Running, look Style) string {
	var b strings.Builder
	who := say.With(" of ", r.User, "")
	b.WriteString(look.Hang("", Clean(fmt.Sprintf("process %d: %s%s", r.PID, r.Command, who))))
	line := func(format string, args ...any) {
		b.WriteString(look.Hang("  ", Clean(fmt.Sprintf(format, args...))))
	}
	switch {
	case r.Env != "":
		line("environment %s", r.Env)
	case r.Exe != "":
		line("no environment; its program is %s", r.Exe)
	}
	if r.Elsewhere {
		line("it runs in a container: its files were read there, and of the GPUs only what the kernel's files tell")
	}
	switch {
	case r.Unit != "":
		line("started by the service %s", r.Unit)
	case r.Group != "" && r.Group != "/":
		line("control group %s", r.Group)
	}
	state := say.Either(r.Torch, "torch is loaded", "torch is not loaded")
	switch {
	case len(r.Devices) > 0:
		state += "; it has open " + strings.Join(r.Devices[:min(4, len(r.Devices))], " ")
	case r.CUDA:
		state += ", and the driver's library; no GPU is open"
	default:
		state += "; no GPU is open"
	}
	line("%s", state)
	for _, below := range r.Below {
		line("it started %s", below)
	}
	if len(r.Below) > 0 {
		number, _, _ := strings.Cut(r.Below[0], " ")
		line("`envfix doctor --pid %s` looks at the first of them", number)
	}
	line("variables are those that it was started with; what it set since cannot be seen")
	return b.String() + "\n"
}

// shownFindings is how many findings fit a screen; -v shows all.
const shownFindings = 3

// shownEvidence is how many characters of a line are evidence enough: two lines.
const shownEvidence = 148

// Doctor is the report for people: the verdict, then what to do first.
func Doctor(r doctor.Report, p *read.Case, look Style) string {
	var b strings.Builder
	if r.Process != nil {
		b.WriteString(processText(r.Process, look))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", Clean(n))
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

// nothingFound says what it means that there is no finding.
func nothingFound(r doctor.Report, p *read.Case, look Style) string {
	switch {
	case p.Pasted && !r.OK:
		if f := doctor.Heard(p); f != nil {
			return findingText(*f, true, look) + "\n" + nothingNamed
		}
		return nothingNamed
	case p.Pasted && !p.Says.Finished.IsZero():
		return "nothing is wrong, as far as this text goes: it shows the GPU at work\n" +
			look.Hang("    ", Clip(Clean(p.Says.Finished.String()), shownEvidence))
	case p.Pasted:
		return "nothing is wrong\n"
	case p.Torch.Version == "":
		return "no torch is installed here; besides, nothing is wrong\n\n" + look.Looked(p.Machine)
	}
	untried := say.If(p.Imported == nil, look.Hang("  ", "as far as files tell: Python was not started; `envfix doctor --import` has it import torch"))
	return "nothing is wrong\n" + untried + "\n" + look.Looked(p.Machine)
}

// findingsText shows the findings, the first as what to begin with.
func findingsText(r doctor.Report, p *read.Case, look Style) string {
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
func factsText(facts []doctor.Known, look Style) string {
	var b strings.Builder
	b.WriteString("what this stands on\n")
	for _, k := range facts {
		what := say.Either(k.State == doctor.Seen, k.Value, string(k.State))
		what += say.If(k.Source != "" && !strings.HasSuffix(k.Source, k.Value) || k.Source != "" && k.Value == "", " ("+Clip(k.Source, 70)+")")
		b.WriteString(look.Hang(fmt.Sprintf("  %-26s ", k.Fact), Clip(what, 200)))
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

func findingText(f doctor.Finding, first bool, look Style) string {
	var b strings.Builder
	b.WriteString(look.Paragraph(fmt.Sprintf("%s:", f.Severity), Clean(f.Text), f.Severity >= know.Error))
	evidence, fix := f.Evidence, f.Fix
	if !look.Verbose {
		evidence, fix = evidence[:min(2, len(evidence))], fix[:min(5, len(fix))]
	}
	for _, e := range evidence {
		b.WriteString(look.Hang("    ", Clip(e, shownEvidence)))
	}
	for _, x := range fix {
		mark := say.Either(first, "  => ", "  - ")
		b.WriteString(look.Hang(mark, Clean(x)))
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
func inUse(p *read.Case, look Style) string {
	if p.Pasted || !look.Verbose && !slices.ContainsFunc(p.Machine.GPUs, worthShowing) {
		return ""
	}
	if table := GPUUse(p.Machine, look.Verbose, Style{}); table != "" {
		return "\n" + table
	}
	return ""
}

// worthShowing reports whether somebody works on a GPU, or its memory is used.
func worthShowing(g machine.GPU) bool {
	u := g.Use
	return u != nil && (len(u.Processes) > 0 || u.MemoryUsed != nil && *u.MemoryUsed >= 1<<30)
}

// Explanation is the answer for people: what each message means, the line itself
// where there were several, and what to do.
func Explanation(a doctor.Explanation, look Style) string {
	if len(a.Matches)+len(a.Known) == 0 {
		return unknownText(a.Unknown) + nothingKnown
	}
	var b strings.Builder
	for i, m := range slices.Concat(a.Matches, a.Known) {
		b.WriteString(say.If(i > 0, "\n"))
		head := m.Program
		if m.Line == 0 { // asked for by its id
			head = m.Checks[0]
		}
		b.WriteString(look.Paragraph(Clean(head)+":", Clean(m.Text), false))
		b.WriteString(say.If(m.Line > 0, look.Hang("  ", Clip(fmt.Sprintf("line %d: %s", m.Line, m.Quote), shownEvidence))))
		for _, f := range m.Fix {
			b.WriteString(look.Hang("  - ", Clean(f)))
		}
		if len(m.Checks) > 0 {
			b.WriteString(look.Hang("  ", fmt.Sprintf("cause %s, check %s", m.Cause, strings.Join(m.Checks, " "))))
		} else if m.Source != "" {
			b.WriteString(look.Hang("  ", "printed by "+Clean(m.Source)))
		}
	}
	return b.String()
}

// unknownText is what was read of a text in which no message is known.
func unknownText(u *doctor.Stranger) string {
	if u == nil {
		return ""
	}
	text := ""
	if u.Kind != "" {
		text = Clean(u.Kind)
		text += say.With(" in ", Clean(u.Place), "")
		text = "read: " + text + "\n"
	}
	for _, s := range u.Similar {
		text += "similar, not the same: " + Clean(s) + "\n"
	}
	return text
}

const nothingKnown = `no message in this text is known

  envfix doctor               looks at this machine
  envfix doctor --from FILE   looks at a whole report: collect_env, nvidia-smi,
                              pip list, the traceback, in any order
`
