package know

import (
	"encoding/binary"

	"envfix/internal/say"
)

// An Index says where in a line the literals of expressions begin. It is made when
// the data is compiled, because finding the literals of two thousand expressions
// takes 30 ms; a scan reads it as it lies in the program.
type Index struct {
	Tests int    // expressions that it is of
	Plain []int  // those without a literal: tried on the first lines only
	Grams string // per gram, and one more: where its needles begin, four bytes each
	// Needles, one after the other: test (2 bytes), where its further sets begin (4,
	// 0 none), length of the literal (1), literal, folded.
	Needles string
	// Sets: how many, then per set how many literals, then per literal length and
	// text; a byte each. A line must hold one literal of every set.
	Sets string
}

const (
	grams      = 1 << 14 // of three bytes
	pairs      = 1 << 12 // of two, after them: of literals that are no longer
	needleHead = 7
)

func gram(a, b, c byte) int {
	return (int(a)<<9 ^ int(b)<<5 ^ int(c)) & (grams - 1)
}

func pair(a, b byte) int {
	return grams + (int(a)<<5^int(b))&(pairs-1)
}

func gramOf(literal string) int {
	if len(literal) == minLiteral {
		return pair(literal[0], literal[1])
	}
	return gram(literal[0], literal[1], literal[2])
}

// newIndex finds the literals of expressions.
func newIndex(exprs []string) Index {
	x := Index{Tests: len(exprs), Sets: "\x00"}
	sets := map[string]uint32{"": 0}
	all := []byte(x.Sets)
	byGram := make([][]byte, grams+pairs)
	for n, expr := range exprs {
		ways := branches(expr)
		if ways == nil {
			x.Plain = append(x.Plain, n)
		}
		for _, b := range ways {
			more := encodeSets(b.more)
			at, ok := sets[more]
			if !ok {
				at = uint32(len(all))
				sets[more] = at
				all = append(all, more...)
			}
			h := gramOf(b.literal)
			byGram[h] = binary.LittleEndian.AppendUint16(byGram[h], uint16(n))
			byGram[h] = binary.LittleEndian.AppendUint32(byGram[h], at)
			byGram[h] = appendText(byGram[h], b.literal)
		}
	}
	var starts, needles []byte
	for _, g := range byGram {
		starts = binary.LittleEndian.AppendUint32(starts, uint32(len(needles)))
		needles = append(needles, g...)
	}
	x.Grams = string(binary.LittleEndian.AppendUint32(starts, uint32(len(needles))))
	x.Needles, x.Sets = string(needles), string(all)
	return x
}

// maxLiteral is what a byte can say. A longer literal is cut: what its beginning
// lets through, the expression decides.
const maxLiteral = 255

func appendText(out []byte, s string) []byte {
	s = s[:min(len(s), maxLiteral)]
	return append(append(out, byte(len(s))), s...)
}

// encodeSets writes sets of literals; what does not fit into a byte is left out,
// because a condition less lets only more lines through.
func encodeSets(sets [][]string) string {
	var out []byte
	n := 0
	for _, set := range sets {
		if len(set) > 255 || n == 255 {
			continue
		}
		n++
		out = append(out, byte(len(set)))
		for _, l := range set {
			out = appendText(out, l)
		}
	}
	return say.If(n != 0, string(byte(n))+string(out))
}

// start is where the needles of a gram begin.
func (x *Index) start(gram int) int {
	g := x.Grams[4*gram : 4*gram+4]
	return int(g[0]) | int(g[1])<<8 | int(g[2])<<16 | int(g[3])<<24
}
