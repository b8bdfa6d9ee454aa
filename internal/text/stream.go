package text

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"envfix/internal/lazy"
)

// A Stream is the way out to standard output or standard error, where each is opened. What
// could act on a terminal and slipped through to here is written out: escape sequences,
// control characters, C1 and the marks that turn the direction of text, as \uXXXX, which
// within JSON still means the same. A login in an address does not leave, nor do tokens,
// however the text is cut into writes: an address whose end has not come is kept until it
// has, or until Flush.
type Stream struct {
	mu      sync.Mutex
	to      io.Writer
	live    bool
	secrets []string
	held    []byte // the beginning of a character or of an address whose rest is to come
	past    []byte // what was written last, where a scheme may stand
}

// NewStream returns a stream from which secrets do not leave, see [Tokens].
func NewStream(secrets ...string) *Stream { return &Stream{secrets: secrets} }

// On has the stream write to a file. On a live one, a terminal, colours of ours stay, and at
// the beginning of a write a line that is drawn anew.
func (s *Stream) On(to io.Writer, live bool) *Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to, s.live = to, live
	return s
}

// To is the file that the stream writes to.
func (s *Stream) To() io.Writer { return s.to }

var (
	// What package ui paints with.
	painted = lazy.Regexp(`^(\x1b\[(0|1|2|31|33|36|1;32)m|\r\n)`)
	// What a progress line and a screen that is drawn anew begin with.
	redrawn = lazy.Regexp(`^(\x1b\[\?25[lh]|(\x1b\[[0-9]{1,3}A)?\r\x1b\[[KJ])`)
	// An address that may go on.
	unended = lazy.Regexp(`(?i)(https?:|[a-z][a-z0-9+.-]*:[/\\])[^\s"'<>]*$`)
)

// Write writes b, but for what is kept of its end, or says why not.
func (s *Stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live && redrawn().Match(b) { // which ends what was begun
		if err := s.flush(); err != nil {
			return 0, err
		}
	}
	out := append(s.held, b...)
	at := s.open(out)
	s.held = bytes.Clone(out[at:])
	if err := s.put(out[:at]); err != nil {
		return 0, err
	}
	return len(b), nil
}

// open is where the end of b begins that is kept.
func (s *Stream) open(b []byte) int {
	if i := bytes.LastIndexByte(b, ':'); i >= 0 && !bytes.ContainsAny(b[i:], " \n") {
		if at := unended().FindIndex(append(bytes.Clone(s.past), b...)); at != nil {
			return max(at[0]-len(s.past), 0)
		}
	}
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-n:]) {
				return len(b) - n
			}
			break
		}
	}
	return len(b)
}

// Flush writes what is kept.
func (s *Stream) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flush()
}

func (s *Stream) flush() error {
	out := s.held
	s.held = nil
	return s.put(out)
}

func (s *Stream) put(out []byte) error {
	if whole := string(s.past) + string(out); mayHide(whole) {
		out = []byte(strings.TrimPrefix(withoutLogin(Hide(whole, s.secrets...)), string(s.past)))
	}
	last := append(s.past, out[max(len(out)-len("git+https:"), 0):]...)
	last = last[max(len(last)-len("git+https:"), 0):]
	s.past = bytes.Clone(last[bytes.LastIndexAny(last, " \n\"'/")+1:])
	if bytes.ContainsFunc(out, acts) {
		out = s.neutral(out)
	}
	if len(out) == 0 {
		return nil
	}
	_, err := s.to.Write(out)
	return err
}

func (s *Stream) neutral(b []byte) (out []byte) {
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
