package text

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"envfix/internal/lazy"
)

// A Stream is the way out to standard output or standard error, where each is opened. What
// could act on a terminal and slipped through to here is written out: escape sequences,
// control characters, C1 and the marks that turn the direction of text, as \uXXXX, which
// within JSON still means the same. A login in an address does not leave.
type Stream struct {
	to   io.Writer
	live bool
	held []byte // the beginning of a character whose rest is to come
}

// NewStream returns the stream that writes to a file. On a live one, a terminal, colours
// of ours stay, and at the beginning of a write a line that is drawn anew.
func NewStream(to io.Writer, live bool) *Stream { return &Stream{to: to, live: live} }

// To is the file that the stream writes to.
func (s *Stream) To() io.Writer { return s.to }

var (
	// What package ui paints with.
	painted = lazy.Regexp(`^(\x1b\[(0|1|2|31|33|36|1;32)m|\r\n)`)
	// What a progress line and a screen that is drawn anew begin with.
	redrawn = lazy.Regexp(`^(\x1b\[\?25[lh]|(\x1b\[[0-9]{1,3}A)?\r\x1b\[[KJ])`)
)

// Write writes all of b or says why not.
func (s *Stream) Write(b []byte) (int, error) {
	out := b
	if bytes.Contains(b, []byte("://")) {
		out = []byte(withoutLogin(string(b)))
	}
	if len(s.held) > 0 || bytes.ContainsFunc(out, acts) {
		out = s.neutral(append(s.held, out...))
	}
	if _, err := s.to.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (s *Stream) neutral(b []byte) []byte {
	var out []byte
	s.held = nil
	if s.live {
		n := len(redrawn().Find(b))
		out, b = append(out, b[:n]...), b[n:]
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		own := 0
		if s.live && (r == 0x1b || r == '\r') {
			own = len(painted().Find(b))
		}
		switch {
		case own > 0:
			n = own
			out = append(out, b[:n]...)
		case r == utf8.RuneError && n == 1 && !utf8.FullRune(b):
			s.held = bytes.Clone(b)
			return out
		case acts(r):
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	return out
}

// acts reports what a terminal may take for a command, or for another order of the text.
func acts(r rune) bool {
	return r != '\n' && r != '\t' && unicode.IsControl(r) || r == utf8.RuneError || unicode.Is(unicode.Bidi_Control, r)
}

// OneLine reports whether s is one line, in which nothing acts on a terminal.
func OneLine(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r == '\n' || r == '\u2028' || r == '\u2029' || acts(r) }) < 0
}
