package machine

import (
	"strings"
	"unicode"
)

// Printable returns s without what could act on a terminal: control characters
// (line ends too), escape sequences' starts, and the marks that turn the
// direction of text. GPU names and paths come from firmware, drivers and files
// of other people.
func Printable(s string) string {
	clean := true
	for _, r := range s {
		if hidden(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, hidden), " ")
}

func hidden(r rune) bool {
	return unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// Clip is [Printable] for text that may be long; it keeps at most n characters.
func Clip(s string, n int) string {
	s = Printable(s)
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
