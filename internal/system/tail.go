package system

import (
	"strings"

	"envfix/internal/text"
)

// A Tail keeps the last Most bytes of what is written to it.
type Tail struct {
	Most int
	b    []byte
}

func (t *Tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p[max(0, len(p)-t.Most):]...)
	if len(t.b) > 2*t.Most { // what is cut is copied once for each Most bytes
		t.b = append(t.b[:0], t.b[len(t.b)-t.Most:]...)
	}
	return len(p), nil
}

func (t *Tail) String() string { return string(t.b[max(0, len(t.b)-t.Most):]) }

// Lines are the last n lines of it, safe to print; 0: all.
func (t *Tail) Lines(n int) []string {
	lines := strings.Split(strings.TrimSpace(t.String()), "\n")
	if n > 0 {
		lines = lines[max(0, len(lines)-n):]
	}
	for i, l := range lines {
		lines[i] = text.Printable(l)
	}
	return lines
}
