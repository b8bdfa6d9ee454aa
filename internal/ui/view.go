package ui

import (
	"strconv"
	"strings"
)

func trimZero(f float64) string {
	if f >= 10 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'f', 1, 64)
}

// view collects the lines of one text.
type view struct {
	Style
	b       strings.Builder
	windows bool // commands are for PowerShell
}

func (v *view) line(s string) { v.b.WriteString(s + "\n") }

// row prints a label and its text beside it, or below where the terminal is narrow.
func (v *view) row(label, text string) { v.b.WriteString(v.rowText(label, text)) }

func (v *view) rowText(label, text string) string {
	lead := label + strings.Repeat(" ", max(1, leftColumn-columns(label)))
	indent := leftColumn
	if v.narrow() {
		lead, indent = strings.TrimSpace(label)+" ", 1
	}
	return v.hang(lead, v.Bold(label)+lead[len(label):], Clean(text), indent)
}

func (v *view) section(title string) {
	v.line("")
	v.title(title)
}

func (v *view) title(title string) {
	for _, l := range hung(v.wrap(title, v.width()-1)) {
		v.line(v.Bold(l))
	}
}

// item prints text with a hanging indent.
func (v *view) item(bullet, text string) {
	v.b.WriteString(v.Hang("  "+bullet, Clean(text)))
}
