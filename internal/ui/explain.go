package ui

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor"
	"envfix/internal/say"
)

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
