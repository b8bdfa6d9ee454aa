package ui

import (
	"strings"

	"envfix/internal/say"
)

// Error returns the text of an error: one "envfix: error:" line, details
// indented below it, and after an empty line its hints. Every line of outside
// text must have been cleaned by the caller where it entered; line breaks within
// a line are escaped here.
func Error(text string, details, hints []string) string { return Style{}.Error(text, details, hints) }

// Error is [Error] for a terminal, where a long sentence is wrapped; what an installer
// printed is left as it is, and so is all of it in a file, where programs look for lines.
func (s Style) Error(text string, details, hints []string) string {
	var b strings.Builder
	if text = Clean(text); s.Width == 0 {
		b.WriteString(s.paint("31", "envfix: error:") + " " + text + "\n")
	} else {
		b.WriteString(s.Paragraph("envfix: error:", text, true))
	}
	for _, d := range details {
		b.WriteString(s.detail(Clean(d)))
	}
	for i, h := range hints {
		b.WriteString(say.If(i == 0, "\n"))
		b.WriteString(s.hang("hint: ", "hint: ", Clean(h), 2))
	}
	return b.String()
}

// detail indents a line below an error. One that has a left column (two blanks after
// its first word) is wrapped beside it; any other, such as what an installer printed,
// stays as it came.
func (s Style) detail(d string) string {
	left, right, columned := strings.Cut(d, "  ")
	if !columned || left == "" || strings.Contains(left, " ") {
		return "  " + d + "\n"
	}
	text := strings.TrimLeft(right, " ")
	return s.Hang("  "+strings.TrimSuffix(d, text), text)
}
