// Package ui turns values into text for people: plans, refusals, tables and
// hints. It decides nothing and reads nothing; its functions return strings or
// write to the writer they are given.
package ui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean returns s with everything escaped that could steer a terminal or reorder
// its text: control characters, bytes that are not UTF-8, and Unicode's
// invisible format characters (bidirectional marks among them). All text from
// outside (GPU names, paths, file contents, index pages) passes through it before
// it is printed. Line breaks are escaped too.
func Clean(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unprintable(r) && r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unprintable(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case unprintable(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// CleanLines is Clean for text of several lines: it keeps the line breaks.
func CleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = Clean(l)
	}
	return strings.Join(lines, "\n")
}

// Clip is Clean for text that may be long; it keeps at most n characters.
func Clip(s string, n int) string {
	s = Clean(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

func unprintable(r rune) bool {
	return !unicode.IsPrint(r) && r != ' ' || unicode.Is(unicode.Cf, r)
}
