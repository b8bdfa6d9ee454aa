package ui

import (
	"strings"

	"envfix/internal/say"
)

// Width is the number of columns that tables and views fit where nothing is known of
// the terminal.
const Width = 80

// The widths that a terminal is taken to have at least and at most: longer lines of
// prose are hard to read.
const (
	leastWidth = 40
	mostWidth  = 120
	narrowest  = 64 // below it there is no room for a column at the left
)

// A Style says how text may look. The zero Style is plain, 80 columns wide, for
// files, pipes and NO_COLOR.
type Style struct {
	Color   bool
	Verbose bool // a plan in full, with every reason
	Width   int  // columns of the terminal; 0: 80
}

func (s Style) width() int {
	if s.Width == 0 {
		return Width
	}
	return min(max(s.Width, leastWidth), mostWidth)
}

func (s Style) narrow() bool { return s.width() < narrowest }

// Bold marks a heading. Colour and weight never carry meaning alone.
func (s Style) Bold(text string) string { return s.paint("1", text) }

// Dim marks what is less important.
func (s Style) Dim(text string) string { return s.paint("2", text) }

// Warn marks a warning.
func (s Style) Warn(text string) string { return s.paint("33", text) }

// Chosen marks what was chosen.
func (s Style) Chosen(text string) string { return s.paint("1;32", text) }

// commands marks what stands in backticks: it is there to be typed.
func (s Style) commands(line string) string {
	if !s.Color {
		return line
	}
	parts := strings.Split(line, "`")
	for i := 1; i+1 < len(parts); i += 2 {
		parts[i] = s.paint("36", "`"+parts[i]+"`")
	}
	var b strings.Builder
	for i, part := range parts {
		if i > 0 && (i%2 == 1 && i+1 == len(parts)) { // its other end is on the next line
			b.WriteString("`")
		}
		b.WriteString(part)
	}
	return b.String()
}

func (s Style) paint(code, text string) string {
	return say.Either(!s.Color || text == "", text, "\x1b["+code+"m"+text+"\x1b[0m")
}

// Wrap breaks text between words so that no line is longer than width, unless a
// single word is. A number and the % sign after it stay together, and so does what
// stands in backticks: a command is there to be copied.
func Wrap(text string, width int) []string { return wrap(text, width, together) }

// wrap breaks text between words; together counts those at the start of a list that
// stay on one line.
func wrap(text string, width int, together func(words []string) int) []string {
	var lines []string
	line := ""
	for words := strings.Fields(text); len(words) > 0; {
		n := together(words)
		word := strings.Join(words[:n], " ")
		words = words[n:]
		if line != "" && columns(line)+1+columns(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line += say.If(line != "", " ")
		line += word
	}
	return append(lines, line)
}

// wrap breaks text for the terminal: where that is narrow, a command too.
func (s Style) wrap(text string, width int) []string {
	if s.narrow() {
		return wrap(text, width, func([]string) int { return 1 })
	}
	return wrap(text, width, together)
}

// hung are lines of one text, the further ones indented.
func hung(lines []string) []string {
	for i := range lines[1:] {
		lines[i+1] = "  " + lines[i+1]
	}
	return lines
}

// together counts the words at the start of words that stay on one line.
func together(words []string) int {
	n := 1
	if strings.Count(words[0], "`")%2 == 1 {
		for i, w := range words[1:] {
			if strings.Count(w, "`")%2 == 1 {
				n = i + 2
				break
			}
		}
	}
	for n < len(words) && strings.HasPrefix(words[n], "%") {
		n++
	}
	return n
}

// Hang wraps text after lead, 80 columns wide; further lines begin below the text.
func Hang(lead, text string) string { return Style{}.Hang(lead, text) }

// Paragraph wraps text after its first word or words, which are marked: as an error, or
// else as a warning. Further lines are indented.
func (s Style) Paragraph(begin, text string, wrong bool) string {
	code := say.Either(wrong, "31", "33")
	return s.hang(begin+" ", s.paint(code, begin)+" ", text, 2)
}

// Hang wraps text after lead; further lines begin below the text, or near the margin
// where the terminal is narrow.
func (s Style) Hang(lead, text string) string {
	indent := columns(lead)
	if s.narrow() {
		indent = min(indent, 2)
	}
	return s.hang(lead, lead, text, indent)
}

// hang wraps text after lead, which is printed as shown; further lines are indented.
func (s Style) hang(lead, shown, text string, indent int) string {
	var b strings.Builder
	width := s.width() - 1
	first := true
	for rest := text; first || rest != ""; {
		at := say.Either(first, columns(lead), indent)
		line := s.wrap(rest, width-at)[0]
		if first && s.narrow() && columns(line) > width-at && strings.TrimSpace(lead) != "" {
			b.WriteString(strings.TrimRight(shown, " ") + "\n") // the word alone is as wide as there is room for
			first = false
			continue
		}
		rest = strings.TrimSpace(strings.TrimPrefix(strings.Join(strings.Fields(rest), " "), line))
		if !first {
			shown = strings.Repeat(" ", indent)
		}
		b.WriteString(strings.TrimRight(shown+s.commands(line), " ") + "\n")
		first = false
	}
	return b.String()
}

// Fill breaks a paragraph between words, as wide as the terminal.
func (s Style) Fill(text string) string {
	return strings.Join(s.wrap(text, s.width()), "\n") + "\n"
}

// Fit keeps a text that is laid out in lines, such as examples, but for the lines that
// the terminal is too narrow for: what stands beside a command comes below it, and a
// command alone stays whole, to be copied.
func (s Style) Fit(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		words := strings.TrimLeft(line, " ")
		indent := len(line) - len(words)
		left, right, beside := strings.Cut(strings.TrimSuffix(words, "\n"), "  ")
		switch {
		case columns(strings.TrimSuffix(line, "\n")) <= s.width() || strings.HasPrefix(words, "envfix ") && !beside:
			b.WriteString(line)
		case beside && strings.HasPrefix(words, "envfix "):
			b.WriteString(line[:indent] + left + "\n" + s.Hang(strings.Repeat(" ", indent+4), strings.TrimSpace(right)))
		case beside:
			b.WriteString(s.Hang(line[:indent]+left+"  ", strings.TrimSpace(right)))
		default:
			b.WriteString(s.Hang(line[:indent], strings.TrimSpace(words)))
		}
	}
	return b.String()
}

// Columns lays rows out in two columns, 80 wide.
func Columns(rows [][2]string, indent int) string { return Style{}.Columns(rows, indent) }

// Columns lays rows out in two columns; a left side that is too wide stands on a
// line of its own, as every one does where the terminal is narrow.
func (s Style) Columns(rows [][2]string, indent int) string {
	left := 0
	for _, r := range rows {
		if n := columns(r[0]); n <= 26 && !s.narrow() {
			left = max(left, n)
		}
	}
	pad := strings.Repeat(" ", indent)
	var b strings.Builder
	for _, r := range rows {
		first := pad + r[0] + strings.Repeat(" ", max(0, left-columns(r[0]))) + "  "
		if columns(r[0]) > left {
			b.WriteString(s.hang(pad, pad, r[0], indent))
			first = strings.Repeat(" ", indent+left+2)
		}
		if r[1] == "" && columns(r[0]) > left {
			continue
		}
		b.WriteString(s.hang(first, first, r[1], indent+left+2))
	}
	return b.String()
}

// columns is the width of s on a terminal, near enough: one per character.
func columns(s string) int { return len([]rune(s)) }

// Size writes bytes for people: "39 MB", "3.0 GB".
func Size(n int64) string {
	switch {
	case n >= 1e9:
		return trimZero(float64(n)/1e9) + " GB"
	case n >= 1e6:
		return trimZero(float64(n)/1e6) + " MB"
	}
	return trimZero(float64(n)/1e3) + " kB"
}
