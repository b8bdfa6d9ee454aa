package know

import (
	"bytes"
	"regexp"
	"slices"
	"sync"
	"unicode/utf8"
)

// A Scanner knows which of a list of expressions are worth trying on a line: a
// window of two and three bytes slides over the line, and only an expression of which
// the line holds a literal that it cannot do without is tried.
type Scanner struct {
	Tests []Test
	first []int // per clue: the place of its first part in parts
	parts []int // per part of a clue: its first test; the part after it has the next
	index *Index
}

// A Test is one expression: an alternative of a message or of a part of a clue, or that of
// a reader of facts, or a form of a class that says enough alone; the others are -1. Each alternative is one of its own, because a
// line that holds a word of one needs no look at dozens of others.
type Test struct {
	Message int
	Clue    int // index × MaxParts + part
	Reader  int
	Class   int

	pattern string
	once    sync.Once
	re      *regexp.Regexp
}

// Re is the expression, compiled when it is first asked for.
func (t *Test) Re() *regexp.Regexp {
	t.once.Do(func() { t.re = regexp.MustCompile(t.expression()) })
	return t.re
}

func (t *Test) expression() string {
	if t.Reader >= 0 {
		return "(?i)" + t.pattern
	}
	return expression(t.pattern)
}

const (
	MaxParts = 20
	maxPlain = 2000 // lines on which expressions without a literal are tried
)

// Scanner returns the scanner of all messages and clues, and of the expressions of
// readers of facts, which are the same in every call. It is made when a text is first
// read: a machine that is examined without one needs none.
func (k *Knowledge) Scanner() *Scanner {
	k.made.Do(func() { k.scanner = newScanner(k) })
	return k.scanner
}

func newScanner(k *Knowledge) *Scanner {
	s := &Scanner{}
	add := func(message, clue, reader, class int, pattern string) {
		s.Tests = append(s.Tests, Test{Message: message, Clue: clue, Reader: reader, Class: class, pattern: pattern})
	}
	s.Tests = make([]Test, 0, max(k.Index.Tests, len(k.Messages)+len(k.Readers)))
	forms := func(harmless bool) {
		for i, c := range k.Classes {
			for _, f := range c.Forms {
				if c.Alone && c.Harmless == harmless {
					add(-1, -1, -1, i, f)
				}
			}
		}
	}
	forms(true) // they veto what comes after them
	for i, m := range k.Messages {
		for _, p := range alternatives(m.Pattern) {
			add(i, -1, -1, -1, p)
		}
	}
	for i, c := range k.Clues {
		s.first = append(s.first, len(s.parts))
		for j := range len(c.All) + len(c.None) {
			s.parts = append(s.parts, len(s.Tests))
			for _, p := range alternatives(c.part(j)) {
				add(-1, i*MaxParts+j, -1, -1, p)
			}
		}
	}
	s.parts = append(s.parts, len(s.Tests))
	for i, x := range k.Readers {
		add(-1, -1, i, -1, x.Expr)
	}
	forms(false)
	if s.index = &k.Index; s.index.Tests != len(s.Tests) { // not the compiled knowledge, or other readers
		x := newIndex(s.expressions())
		s.index = &x
	}
	return s
}

func (s *Scanner) expressions() (exprs []string) {
	for i := range s.Tests {
		exprs = append(exprs, s.Tests[i].expression())
	}
	return exprs
}

// Part returns the numbers of the tests of a part of a clue: from, and the one after the last.
func (s *Scanner) Part(n int) (from, to int) {
	at := s.first[n/MaxParts] + n%MaxParts
	return s.parts[at], s.parts[at+1]
}

// A Pass is one run of a Scanner over a text.
type Pass struct {
	*Scanner
	seen  []int // per test: the number of the last line that held one of its literals
	stamp int
	fold  []byte
	due   []int
}

// Start begins a run.
func (s *Scanner) Start() *Pass { return &Pass{Scanner: s, seen: make([]int, len(s.Tests))} }

// Candidates returns the tests worth trying on a line, in order. The slice is
// valid until the next call.
func (p *Pass) Candidates(line string) []int {
	p.stamp++
	p.due = p.due[:0]
	if p.stamp <= maxPlain {
		p.due = append(p.due, p.index.Plain...)
	}
	b := p.folded(line)
	for i := 0; i+1 < len(b); i++ {
		p.try(pair(b[i], b[i+1]), b, i)
		if i+2 < len(b) {
			p.try(gram(b[i], b[i+1], b[i+2]), b, i)
		}
	}
	slices.Sort(p.due)
	return p.due
}

// folded is a line with what differs in case alone made the same.
func (p *Pass) folded(line string) []byte {
	b := p.fold[:0]
	for i := 0; i < len(line); i++ {
		c := line[i]
		if c < utf8.RuneSelf {
			b = append(b, lower(c))
			continue
		}
		r, n := utf8.DecodeRuneInString(line[i:])
		b = utf8.AppendRune(b, fold(r))
		i += n - 1
	}
	p.fold = b
	return b
}

// try looks at each needle of a gram at a place of a line.
func (p *Pass) try(gram int, line []byte, i int) {
	needles := p.index.Needles[p.index.start(gram):p.index.start(gram+1)]
	for len(needles) > needleHead {
		test := int(needles[0]) | int(needles[1])<<8
		end := needleHead + int(needles[6])
		literal := needles[needleHead:end]
		if p.seen[test] != p.stamp && len(line)-i >= len(literal) && string(line[i:i+len(literal)]) == literal {
			more := int(needles[2]) | int(needles[3])<<8 | int(needles[4])<<16 | int(needles[5])<<24
			if more == 0 || holds(line, p.index.Sets[more:]) {
				p.seen[test] = p.stamp
				p.due = append(p.due, test)
			}
		}
		needles = needles[end:]
	}
}

// holds reports whether a line holds a literal of every set.
func holds(line []byte, sets string) bool {
	n, at := int(sets[0]), 1
	for range n {
		found := false
		size := int(sets[at])
		at++
		for range size {
			l := sets[at+1 : at+1+int(sets[at])]
			at += 1 + len(l)
			found = found || bytes.Contains(line, []byte(l))
		}
		if !found {
			return false
		}
	}
	return true
}
