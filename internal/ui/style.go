package ui

import "strings"

// Width is the number of columns that tables and views fit.
const Width = 80

// A Style says how text may look. The zero Style is plain, for files, pipes and
// NO_COLOR.
type Style struct {
	Color   bool
	Verbose bool // every reason, also those that nobody asks about
}

// Bold marks a heading. Colour and weight never carry meaning alone.
func (s Style) Bold(text string) string { return s.paint("1", text) }

// Dim marks what is less important.
func (s Style) Dim(text string) string { return s.paint("2", text) }

// Warn marks a warning.
func (s Style) Warn(text string) string { return s.paint("33", text) }

func (s Style) paint(code, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Wrap breaks text between words so that no line is longer than width, unless a
// single word is. A number and the % sign after it stay together, and so does what
// stands in backticks: a command is there to be copied.
func Wrap(text string, width int) []string {
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
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
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

// Hang wraps text after lead; further lines begin below the text.
func Hang(lead, text string) string {
	var b strings.Builder
	for i, l := range Wrap(text, Width-1-columns(lead)) {
		if i > 0 {
			lead = strings.Repeat(" ", columns(lead))
		}
		b.WriteString(lead + l + "\n")
	}
	return b.String()
}

// Columns lays rows out in two columns within [Width]; a left side that is too
// wide stands on a line of its own.
func Columns(rows [][2]string, indent int) string {
	left := 0
	for _, r := range rows {
		if n := columns(r[0]); n <= 26 {
			left = max(left, n)
		}
	}
	pad := strings.Repeat(" ", indent)
	var b strings.Builder
	for _, r := range rows {
		first := pad + r[0] + strings.Repeat(" ", max(0, left-columns(r[0]))) + "  "
		if columns(r[0]) > left {
			b.WriteString(pad + r[0] + "\n")
			first = strings.Repeat(" ", indent+left+2)
		}
		for i, l := range Wrap(r[1], Width-1-indent-left-2) {
			if i > 0 {
				first = strings.Repeat(" ", indent+left+2)
			}
			b.WriteString(strings.TrimRight(first+l, " ") + "\n")
		}
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
