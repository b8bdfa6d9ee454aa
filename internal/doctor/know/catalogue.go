package know

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// A Catalogue knows lines that programs print when something is wrong, as
// internal/maintain/messages/harvest.py read them from their packages. A line is known by
// one literal piece of the message. Of each piece only a number is kept: the eight bytes
// of it that are the rarest are looked for at every byte of a line, and where they are
// found, the whole piece.
type Catalogue struct {
	From []Origin
	Seen string // a bit for each key, so that nearly every place of a line is passed over
	Rows string // sorted, [rowSize] bytes each: key (4), its offset in the piece, the piece's length, its sum (2), its origin (2)
}

// An Origin is what rows have in common.
type Origin struct {
	Program, Version, Place string
	Code                    bool   // names of an enumeration
	Loud                    bool   // errors, not warnings
	Kind                    string // of exception; "-" none
}

// A Row is a message of a Catalogue that a line holds.
type Row struct {
	Origin
	Text string // the piece of the line that it was known by
}

const (
	keySize = 8
	seenLog = 18
	rowSize = 10

	tellsAll    = 32  // bytes of a piece that few other messages hold
	maxSentence = 120 // bytes of a line; a log writes more before and after the message
)

func keyOf(b string) uint32 {
	return uint32(binary.LittleEndian.Uint64([]byte(b[:keySize])) * 0x9e3779b97f4a7c15 >> 32)
}

func sumOf(piece string) uint16 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(piece)) // never fails
	return uint16(h.Sum32() >> 8)
}

// newCatalogue reads the generated file. Its error names a line that is no row.
func newCatalogue(file string) (Catalogue, error) {
	c, at := Catalogue{}, Origin{}
	pieces, count, from := map[string]int{}, map[string]int{}, map[Origin]int{}
	for n, line := range strings.Split(strings.TrimSuffix(file, "\n"), "\n") {
		switch line[0] {
		case '#':
		case '@':
			words := strings.SplitN(line[1:]+"  ", " ", 3)
			at.Program, at.Version = words[0], words[1]
		case '>':
			at.Place = short(line[1:])
		default:
			parts := strings.SplitN(line, "\t", 3)
			if len(parts) < 3 || len(parts[2]) < keySize || len(parts[2]) > 255 {
				return c, fmt.Errorf("line %d is no row", n+1)
			}
			at.Code, at.Loud, at.Kind = parts[0] == "c", parts[0] == "e", parts[1]
			if at.Code {
				at.Kind = "-" // its number: the name says it
			}
			if _, known := from[at]; !known {
				from[at] = len(c.From)
				c.From = append(c.From, at)
			}
			piece := folded(parts[2])
			if _, twice := pieces[piece]; twice {
				continue // the first program of the file counts
			}
			pieces[piece] = from[at]
			for i := range len(piece) - keySize + 1 {
				count[piece[i:i+keySize]]++
			}
		}
	}
	rows, seen := make([]string, 0, len(pieces)), make([]byte, 1<<seenLog/8)
	for piece, origin := range pieces {
		best := 0
		for i := range len(piece) - keySize + 1 {
			if count[piece[i:i+keySize]] < count[piece[best:best+keySize]] {
				best = i
			}
		}
		key := keyOf(piece[best:])
		seen[key>>(32-seenLog)/8] |= 1 << (key >> (32 - seenLog) % 8)
		row := append(binary.BigEndian.AppendUint32(nil, key), byte(best), byte(len(piece)))
		rows = append(rows, string(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(row, sumOf(piece)), uint16(origin))))
	}
	if len(c.From) > 1<<16 {
		return c, fmt.Errorf("%d origins", len(c.From))
	}
	slices.Sort(rows)
	c.Seen, c.Rows = string(seen), strings.Join(rows, "")
	return c, nil
}

// short is the end of a path: a file and the directory it lies in.
func short(path string) string {
	if at := strings.LastIndexByte(path, '/'); at > 0 {
		return path[strings.LastIndexByte(path[:at], '/')+1:]
	}
	return path
}

// folded is a line in small letters, with one blank for each run of them.
func folded(line string) string {
	b := make([]byte, 0, len(line))
	for i := range len(line) {
		c := lower(line[i])
		if c == '\t' || c == '\n' {
			c = ' '
		}
		if c != ' ' || len(b) > 0 && b[len(b)-1] != ' ' {
			b = append(b, c)
		}
	}
	return string(b)
}

// Find returns the row whose piece a line holds: of several the longest.
func (c *Catalogue) Find(line string) (best Row, found bool) {
	line = folded(line)
	for i := 0; i+keySize <= len(line) && c.Seen != ""; i++ {
		key := keyOf(line[i:])
		if bit := key >> (32 - seenLog); c.Seen[bit/8]>>(bit%8)&1 == 0 {
			continue
		}
		for at := c.search(key); at < len(c.Rows) && c.key(at) == key; at += rowSize {
			start := i - int(c.Rows[at+4])
			end := start + int(c.Rows[at+5])
			if start < 0 || end > len(line) || end-start <= len(best.Text) || sumOf(line[start:end]) != c.number(at+6) {
				continue
			}
			from := c.From[c.number(at+8)]
			if !from.Code && enough(end-start, len(line)) || from.Code && !(start > 0 && isWord(line[start-1]) || end < len(line) && isWord(line[end])) {
				best, found = Row{from, line[start:end]}, true
			}
		}
	}
	return best, found
}

// enough reports whether a piece of n bytes says which message a line is: a short one is
// part of many.
func enough(n, line int) bool { return n >= tellsAll || 3*n >= min(line, maxSentence) }

func (c *Catalogue) number(at int) uint16 { return uint16(c.Rows[at])<<8 | uint16(c.Rows[at+1]) }

func (c *Catalogue) key(at int) uint32 { return uint32(c.number(at))<<16 | uint32(c.number(at+2)) }

// search returns where the first row of a key would be.
func (c *Catalogue) search(key uint32) int {
	lo, hi := 0, len(c.Rows)/rowSize
	for lo < hi {
		if m := (lo + hi) / 2; c.key(m*rowSize) < key {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo * rowSize
}

func isWord(c byte) bool { return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' }
