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
	keys, tables, depth, dots := 0, 0, 0, 0
	start := true // of a line
	for len(b) > 0 {
		c := b[0]
		n := 1
		switch {
		case c == '#':
			n = lineEnd(b)
		case c == '"' || c == '\'':
			n = stringEnd(b)
		case c == '[' && start && depth == 0:
			n = lineEnd(b)
			keys, dots = 0, bytes.Count(b[:n], []byte("."))
			tables++
		case c == '[' || c == '{':
			depth++
			dots = 0
		case c == ']' || c == '}':
			depth = max(depth-1, 0)
		case c == '=':
			keys++
			dots = 0
		case c == '.':
			dots++
		case c == ',' || c == '\n':
			dots = 0
		}
		start = c == '\n' || start && (c == ' ' || c == '\t')
		b = b[n:]
		switch {
		case keys > mostTOMLKeys:
			return fmt.Errorf("a table of more than %d keys", mostTOMLKeys)
		case tables > mostTOMLTables:
			return fmt.Errorf("more than %d tables", mostTOMLTables)
		case depth > mostTOMLDepth || dots > mostTOMLDepth:
			return fmt.Errorf("something nested more than %d deep", mostTOMLDepth)
		}
	}
	return nil
}

// lineEnd is where the line that b begins with ends, its "\n" not included.
func lineEnd(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i
	}
	return len(b)
}

// stringEnd is where the string that b begins with ends: """ and ”' go over lines, and
// only the double ones have escapes.
func stringEnd(b []byte) int {
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
