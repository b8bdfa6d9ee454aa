// Package text makes text from outside safe to show: GPU names come from
// firmware, paths and file contents from other people, pages from servers. It is
// kept as it came and cleaned where it goes out.
package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"envfix/internal/lazy"
)

// The escape sequences of ECMA-48 and xterm: CSI, OSC, and two characters.
var escapes = lazy.Regexp("\x1b(\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)?|[@-Z\\\\-_])")

// Printable returns s without what could act on a terminal: escape sequences,
// control characters (line ends too), what is no UTF-8, and the marks that turn
// the direction of text. A blank stands where something stood between words.
func Printable(s string) string {
	s = withoutLogin(s)
	if isPlain(s) {
		return s
	}
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = escapes().ReplaceAllString(s, "")
	}
	s = strings.ReplaceAll(s, "\t", " ")
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, hidden), " ")
}

// Clip is [Printable] for text that may be long; it keeps at most n characters.
func Clip(s string, n int) string { return Cut(Printable(s), n) }

// Cut returns at most n characters of s, the last of them "…" where it was longer.
func Cut(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// Escape returns s in one line with everything that [Printable] would drop
// written out, as in Go's strings: nothing is lost, and nothing acts.
func Escape(s string) string {
	s = withoutLogin(s)
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

// EscapeLines is [Escape] for text of several lines: it keeps the line breaks.
func EscapeLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = Escape(l)
	}
	return strings.Join(lines, "\n")
}

// EscapeJSON writes what encoding/json leaves as it is and a terminal might act on
// (C1 control characters, marks that turn the direction of text) as \u escapes.
// Such characters only occur within JSON's strings; line ends stay.
func EscapeJSON(b []byte) []byte {
	odd := func(r rune) bool { return unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Cf, r) }
	if strings.IndexFunc(string(b), odd) < 0 {
		return b
	}
	var out []byte
	for _, r := range string(b) {
		switch {
		case !odd(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

func isPlain(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < 0x20 || r > 0x7e }) < 0
}

func hidden(r rune) bool {
	return r == unicode.ReplacementChar || r == '\u2028' || r == '\u2029' || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

func unprintable(r rune) bool {
	return !unicode.IsPrint(r) && r != ' ' || unicode.Is(unicode.Cf, r)
}

// Count writes a number with its noun in the right form.
func Count(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "ss"):
		noun += "es"
	case strings.HasSuffix(noun, "ry"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Each is what is said, or made, of each of some things.
func Each[T, U any](all []T, make func(T) U) (out []U) {
	for _, x := range all {
		out = append(out, make(x))
	}
	return out
}
