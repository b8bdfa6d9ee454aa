package text

import (
	"bytes"
	"fmt"
)

// Bounds of a TOML file, ten times and more what the largest locks and projects hold. The
// reader compares each key with every other one of its table, and keeps each part of a
// dotted name for itself: a file of 1 MB can cost minutes, and gigabytes.
const (
	mostTOMLKeys   = 10_000 // in a table, those of the tables in it included
	mostTOMLTables = 20_000 // with a header of their own
	mostTOMLDepth  = 100    // of brackets, and of a name's parts
)

// BoundTOML refuses a TOML file that no project has, before it is parsed. It judges
// nothing else: what is no TOML is for the parser to say.
func BoundTOML(b []byte) error {
	var s tomlSize
	for start := true; len(b) > 0; { // of a line
		c := b[0]
		b = b[s.take(b, start):]
		start = c == '\n' || start && (c == ' ' || c == '\t')
		switch {
		case s.keys > mostTOMLKeys:
			return fmt.Errorf("a table of more than %d keys", mostTOMLKeys)
		case s.tables > mostTOMLTables:
			return fmt.Errorf("more than %d tables", mostTOMLTables)
		case max(s.depth, s.dots) > mostTOMLDepth:
			return fmt.Errorf("something nested more than %d deep", mostTOMLDepth)
		}
	}
	return nil
}

// A tomlSize is what was counted up to a place: keys of the table, tables, brackets that
// are open, and dots of the name.
type tomlSize struct{ keys, tables, depth, dots int }

// take counts what b begins with, and returns its length.
func (s *tomlSize) take(b []byte, start bool) int {
	switch c := b[0]; {
	case c == '#':
		return lineEnd(b)
	case c == '"' || c == '\'':
		return StringEnd(b)
	case c == '[' && start && s.depth == 0:
		n := lineEnd(b)
		s.keys, s.dots = 0, bytes.Count(b[:n], []byte("."))
		s.tables++
		return n
	case c == '[' || c == '{':
		s.depth, s.dots = s.depth+1, 0
	case c == ']' || c == '}':
		s.depth = max(s.depth-1, 0)
	case c == '=':
		s.keys, s.dots = s.keys+1, 0
	case c == '.':
		s.dots++
	case c == ',' || c == '\n':
		s.dots = 0
	}
	return 1
}

// lineEnd is where the line that b begins with ends, its "\n" not included.
func lineEnd(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i
	}
	return len(b)
}

// StringEnd is where the string that b begins with ends: """ and ”' go over lines, and
// only the double ones have escapes.
func StringEnd(b []byte) int {
	mark := b[:1]
	if long := bytes.Repeat(mark, 3); bytes.HasPrefix(b, long) {
		mark = long
	}
	for i := len(mark); i < len(b); i++ {
		switch {
		case bytes.HasPrefix(b[i:], mark):
			return i + len(mark)
		case b[i] == '\\' && mark[0] == '"':
			i++
		case b[i] == '\n' && len(mark) == 1:
			return i
		}
	}
	return len(b)
}
