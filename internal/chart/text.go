package chart

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"envfix/internal/say"
)

// marks are the states in one or two characters: colour is never alone.
var marks = map[State]string{Native: "■", PTX: "□", Driver: "▲", None: "·", Unknown: "?"}

// Text draws the map for a terminal of 80 columns: three for a release. bold marks
// what is chosen, where the terminal can.
func (m *Map) Text(bold func(string) string) string {
	var b strings.Builder
	left := 0
	for _, r := range m.Rows {
		left = max(left, utf8.RuneCountInString(r.label()))
	}
	fmt.Fprintf(&b, "%s %s: which GPU runs which torch\n\n", m.OS, m.Arch)
	upper, lower := pad("", left+2), pad("torch", left+2)
	for _, c := range m.Columns {
		major, minor, _ := strings.Cut(c.Minor(), ".")
		first, second := fmt.Sprintf("%2s.", major), fmt.Sprintf("%3s", minor)
		if c.Chosen {
			first, second = bold(first), bold(second)
		}
		upper, lower = upper+first, lower+second
	}
	b.WriteString(upper + "\n" + lower + "\n")
	for _, r := range m.Rows {
		mark := say.Either(r.Chosen, "> ", "  ")
		line := pad(mark+r.label(), left+2)
		for i, c := range r.Cells {
			cell := "  " + marks[c.State]
			if r.Chosen || m.Columns[i].Chosen {
				cell = bold(cell)
			}
			line += cell
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	b.WriteString("\n■ code for it  □ PTX, compiled at first use  ")
	b.WriteString(say.If(!m.Driver.IsZero(), "▲ another driver  "))
	b.WriteString("· does not run")
	if slices.ContainsFunc(m.Rows, func(r Row) bool {
		return slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.State == Unknown })
	}) {
		b.WriteString("\n? nobody has seen its wheel: not known")
	}
	b.WriteString("\n")
	return b.String()
}

// label is a row's head: "8.9 Ada", "gfx1100".
func (r Row) label() string {
	switch {
	case r.Code == "":
		return r.Name
	case r.Vendor == "amd":
		return r.Code
	}
	return fmt.Sprintf("%-4s %s", r.Code, r.Name)
}

// Details lists the cells of the chosen rows, newest release first: what a picture
// has no room for.
func (m *Map) Details() [][]string {
	var out [][]string
	for _, r := range m.Rows {
		if !r.Chosen {
			continue
		}
		for i := len(r.Cells) - 1; i >= 0; i-- {
			out = append(out, []string{r.Cells[i].Torch, r.Cells[i].Text})
		}
	}
	return out
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s))) }
