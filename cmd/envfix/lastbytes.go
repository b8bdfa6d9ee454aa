package main

import "strings"

// lastBytes keeps the end of what is written to it.
type lastBytes struct {
	most int
	b    []byte
}

func (l *lastBytes) Write(p []byte) (int, error) {
	l.b = append(l.b, p[max(0, len(p)-l.most):]...)
	if len(l.b) > 2*l.most { // what is cut is copied once for each most bytes
		l.b = append(l.b[:0], l.b[len(l.b)-l.most:]...)
	}
	return len(p), nil
}

func (l *lastBytes) String() string { return string(l.b[max(0, len(l.b)-l.most):]) }

// lastLines are the last n lines of a text.
func lastLines(text string, n int) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[max(0, len(lines)-n):]
}
