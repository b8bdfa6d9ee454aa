package know

import (
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"envfix/internal/text"
)

// A Catalogue knows lines that programs print when something is wrong, as
// internal/maintain/messages/harvest.py read them from their packages. A line is known by
// one literal piece of the message. Of each piece only a number is kept: the eight bytes
// of it that are the rarest are looked for at every byte of a line, and where they are
// found, the whole piece.
type Catalogue struct {
	Places string   // deflated lines: program, version, file
	Kinds  []string // of exception; "-" none
	From   string   // what rows have in common, [fromSize] bytes each: the place (2), the kind with the sort of message (2)
	Heads  string   // how many rows have a key with these first two bytes
	Rows   string   // sorted, [rowSize] bytes each: the rest of the key (2), then its offset in the piece, the piece's length, its sum, its origin (5)

	once   sync.Once
	places []string
	speak  map[string]bool     // programs with sentences of their own
	starts []int               // the first row of each head
	seen   [1 << seenLog]uint8 // whether a key begins like this, so that nearly every place of a line is passed over
}

// An Origin is what rows have in common.
type Origin struct {
	Program, Version, Place string
	Code                    bool   // names of an enumeration
	Loud                    bool   // errors, not warnings
	Shared                  bool   // others print the same, or so short a piece may be others'
	Kind                    string // of exception; "-" none
}

// A Row is a message of a Catalogue that a line holds.
type Row struct {
	Origin
	Text string // the piece of the line that it was known by
}

const (
	keySize  = 8
	seenLog  = 18
	fromSize = 4

	rowSize  = 7
	sizeBits = 6
	sumBits  = 13
	fromBits = 15
	maxPiece = 1<<sizeBits - 1

	isCode, isLoud, isShared, sorts = 1, 2, 4, 8 // the sort of a message; its kind is above

	tellsAll    = 32  // bytes of a piece that few other messages hold
	tellsWho    = 24  // bytes of a piece that few other programs print
	maxSentence = 120 // bytes of a line; a log writes more before and after the message
)

func keyOf(b string) uint32 {
	return uint32(binary.LittleEndian.Uint64([]byte(b[:keySize])) * 0x9e3779b97f4a7c15 >> 32)
}

func sumOf(piece string) uint64 { return uint64(crc32.ChecksumIEEE([]byte(piece)) >> (32 - sumBits)) }

// A numbering gives each text a number, in the order of their first use.
type numbering struct {
	at  map[string]int
	all []string
}

func (n *numbering) of(text string) int {
	if n.at == nil {
		n.at = map[string]int{}
	}
	if _, known := n.at[text]; !known {
		n.at[text] = len(n.all)
		n.all = append(n.all, text)
	}
	return n.at[text]
}

// newCatalogue reads the generated file. Its error names a line that is no row.
func newCatalogue(file string) (*Catalogue, error) {
	var places, kinds, origins numbering
	program, place := "", ""
	pieces, count := map[string]int{}, map[string]int{}
	for n, line := range strings.Split(strings.TrimSuffix(file, "\n"), "\n") {
		switch line[0] {
		case '#':
		case '@':
			words := strings.SplitN(line[1:]+"  ", " ", 3)
			program = words[0] + "\t" + words[1] + "\t"
		case '>':
			place = program + short(line[1:])
		default:
			parts := strings.SplitN(line, "\t", 3)
			if len(parts) < 3 || len(parts[2]) < keySize || len(parts[2]) > maxPiece {
				return nil, fmt.Errorf("line %d is no row", n+1)
			}
			piece := folded(parts[2])
			if first, twice := pieces[piece]; twice { // the first program of the file counts
				if !strings.HasPrefix(places.all[first>>16], program) {
					pieces[piece] |= isShared
				}
				continue
			}
			kind, sort := parts[1], 0
			switch parts[0] {
			case "c":
				kind, sort = "-", isCode // its number: the name says it
			case "e":
				sort = isLoud
			}
			pieces[piece] = places.of(place)<<16 | kinds.of(kind)*sorts + sort
			for i := range len(piece) - keySize + 1 {
				count[piece[i:i+keySize]]++
			}
		}
	}
	for _, piece := range slices.Sorted(maps.Keys(pieces)) {
		pieces[piece] = origins.of(string(binary.BigEndian.AppendUint32(nil, uint32(pieces[piece]))))
	}
	if len(origins.all) > 1<<fromBits || len(places.all) > 1<<16 || len(kinds.all) > 1<<16/sorts {
		return nil, fmt.Errorf("%d origins, %d places and %d kinds", len(origins.all), len(places.all), len(kinds.all))
	}
	deflated, err := deflate(strings.Join(places.all, "\n"))
	c := &Catalogue{Places: deflated, Kinds: kinds.all, From: strings.Join(origins.all, "")}
	return c, errors.Join(err, c.index(pieces, count))
}

func deflate(s string) (string, error) {
	var deflated strings.Builder
	w, err := flate.NewWriter(&deflated, flate.BestCompression)
	if err == nil {
		_, err = io.WriteString(w, s)
		err = errors.Join(err, w.Close())
	}
	return deflated.String(), err
}

// index makes the rows of these pieces with the numbers of their origins; count is how often
// each run of bytes is in them.
func (c *Catalogue) index(pieces, count map[string]int) error {
	rows, heads := make([]string, 0, len(pieces)), make([]byte, 1<<16)
	for piece, origin := range pieces {
		best := 0
		for i := range len(piece) - keySize + 1 {
			if count[piece[i:i+keySize]] < count[piece[best:best+keySize]] {
				best = i
			}
		}
		key := keyOf(piece[best:])
		if heads[key>>16]++; heads[key>>16] == 0 {
			return fmt.Errorf("256 pieces begin like %q", piece)
		}
		low := ((uint64(best)<<sizeBits|uint64(len(piece)))<<sumBits|sumOf(piece))<<fromBits | uint64(origin)
		rows = append(rows, string(binary.BigEndian.AppendUint32(nil, key))+string(binary.BigEndian.AppendUint64(nil, low)[3:]))
	}
	slices.Sort(rows)
	c.Heads, c.Rows = string(heads), strings.Join(text.Each(rows, func(row string) string { return row[2:] }), "")
	return nil
}

// open makes ready what is looked into.
func (c *Catalogue) open() {
	plain, _ := io.ReadAll(flate.NewReader(strings.NewReader(c.Places))) // this program's own making
	c.places, c.starts = strings.Split(string(plain), "\n"), make([]int, len(c.Heads)+1)
	c.speak = map[string]bool{}
	for n := range len(c.From) / fromSize {
		if o := c.origin(n); !o.Code {
			c.speak[o.Program] = true
		}
	}
	for head := range c.Heads {
		c.starts[head+1] = c.starts[head] + int(c.Heads[head])
		for at := c.starts[head]; at < c.starts[head+1]; at++ {
			c.seen[head<<(seenLog-16)|int(c.Rows[at*rowSize]>>(24-seenLog))] = 1
		}
	}
}

// origin reads what the rows of a number have in common.
func (c *Catalogue) origin(n int) Origin {
	sort := c.sort(n)
	at := strings.SplitN(c.places[int(c.From[n*fromSize])<<8|int(c.From[n*fromSize+1])], "\t", 3)
	return Origin{at[0], at[1], at[2], sort&isCode != 0, sort&isLoud != 0, sort&isShared != 0, c.Kinds[sort/sorts]}
}

func (c *Catalogue) sort(n int) int {
	return int(c.From[n*fromSize+2])<<8 | int(c.From[n*fromSize+3])
}

// Speaks reports whether one of the programs of a message ("torch/nccl") has sentences of its own
// here, beside names of an enumeration.
func (c *Catalogue) Speaks(program string) bool {
	if c == nil {
		return false
	}
	c.once.Do(c.open)
	return slices.ContainsFunc(strings.Split(program, "/"), func(p string) bool { return c.speak[p] })
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

// counts reports whether a piece stands for its message in a line: a code as a word of its
// own, others where they are enough of the line.
func (c *Catalogue) counts(from int, line string, start, end int) bool {
	if c.sort(from)&isCode == 0 {
		return enough(end-start, len(line))
	}
	return !(start > 0 && isWord(line[start-1]) || end < len(line) && isWord(line[end]))
}

// Find returns the row whose piece a line holds: of several the longest. A catalogue that
// is not there knows none.
func (c *Catalogue) Find(line string) (best Row, found bool) {
	if c == nil {
		return best, false
	}
	c.once.Do(c.open)
	line = folded(line)
	origin := 0
	for i := 0; i+keySize <= len(line); i++ {
		key := keyOf(line[i:])
		if c.seen[key>>(32-seenLog)] == 0 {
			continue
		}
		for at := c.starts[key>>16]; at < c.starts[key>>16+1]; at++ {
			row := binary.BigEndian.Uint64([]byte("\x00" + c.Rows[at*rowSize:(at+1)*rowSize]))
			if uint16(row>>40) != uint16(key) {
				continue
			}
			low := row & (1<<40 - 1)
			start := i - int(low>>(sizeBits+sumBits+fromBits))
			end := start + int(low>>(sumBits+fromBits)&maxPiece)
			if start < 0 || end > len(line) || end-start <= len(best.Text) || sumOf(line[start:end]) != low>>fromBits&(1<<sumBits-1) {
				continue
			}
			if from := int(low & (1<<fromBits - 1)); c.counts(from, line, start, end) {
				best.Text, origin, found = line[start:end], from, true
			}
		}
	}
	if found {
		best.Origin = c.origin(origin)
		best.Shared = !best.Code && (best.Shared || len(best.Text) < tellsWho)
	}
	return best, found
}

// enough reports whether a piece of n bytes says which message a line is: a short one is
// part of many.
func enough(n, line int) bool { return n >= tellsAll || 3*n >= min(line, maxSentence) }

func isWord(c byte) bool { return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' }
