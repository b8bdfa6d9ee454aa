package ui

import (
	"fmt"
	"strings"

	"envfix/internal/doctor"
	"envfix/internal/machine"
)

// DoctorMarkdown is the report as Markdown for an issue on GitHub. Text from outside
// stands in code, so that it is no mark-up, mentions nobody and links to nothing.
func DoctorMarkdown(r doctor.Report, m *machine.Machine, day string, share func(string) string) string {
	var b strings.Builder
	b.WriteString("### envfix doctor\n\n")
	switch {
	case len(r.Findings) == 0 && r.OK:
		b.WriteString("Nothing is wrong.\n")
	case len(r.Findings) == 0:
		b.WriteString("Nothing here that names a cause.\n")
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "**%s** (%s, %s confidence): %s\n\n", f.Severity, f.Check, f.Confidence, prose(f.Text))
		for _, e := range f.Evidence {
			b.WriteString("- seen: " + inline(e) + "\n")
		}
		for _, x := range f.Fix {
			b.WriteString("- to do: " + prose(x) + "\n")
		}
		b.WriteString("\n")
	}
	for _, n := range r.Notes {
		b.WriteString("- note: " + prose(n) + "\n")
	}
	if p := r.Process; p != nil {
		b.WriteString("\n" + "- process: " + inline(p.Command) + ", environment " + inline(p.Env) + "\n")
	}
	if m != nil {
		facts := share(CleanLines(Facts(*m, true, Style{})))
		fence := strings.Repeat("`", max(3, longestTicks(facts)+1))
		b.WriteString("\n<details><summary>Facts of the machine</summary>\n\n" +
			fence + "text\n" + strings.TrimRight(facts, "\n") + "\n" + fence + "\n\n</details>\n")
	}
	fmt.Fprintf(&b, "\n%s\n", Clean(day))
	return b.String()
}

// prose is a sentence of ours with the words of others in it: commands in backticks stay
// code, and what Markdown or HTML would read as a mark is written so that it does not.
func prose(s string) string {
	var b strings.Builder
	for _, p := range marked(s) {
		if p.Code {
			b.WriteString(inline(p.Text))
			continue
		}
		for _, r := range p.Text {
			switch r {
			case '<', '>', '&', '*', '_', '[', ']', '#', '|', '\\', '`', '!', '~':
				b.WriteRune('\\')
			case '@': // an invisible joint, so that nobody is mentioned
				b.WriteString("@\u2060")
				continue
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// inline is text as code, whatever backticks it holds.
func inline(s string) string {
	s = Clean(s)
	fence := strings.Repeat("`", longestTicks(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || s == "" {
		s = " " + s + " "
	}
	return fence + s + fence
}

// longestTicks is the length of the longest row of backticks.
func longestTicks(s string) int {
	longest, row := 0, 0
	for _, r := range s {
		if r != '`' {
			row = 0
			continue
		}
		row++
		longest = max(longest, row)
	}
	return longest
}
