package ui

import "strings"

// Error returns the text of an error: one "envfix: error:" line, details
// indented below it, and after an empty line its hints. Every line of outside
// text must have been cleaned by the caller where it entered; line breaks within
// a line are escaped here.
func Error(text string, details, hints []string) string {
	var b strings.Builder
	b.WriteString("envfix: error: " + Clean(text) + "\n")
	for _, d := range details {
		b.WriteString("  " + Clean(d) + "\n")
	}
	for i, h := range hints {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString("hint: " + Clean(h) + "\n")
	}
	return b.String()
}
