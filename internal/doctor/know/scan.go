package know

import (
	"bytes"
	"regexp"
	"runtime"
	"slices"
	"sync"

	"envfix/internal/lazy"
)

// A Scanner knows which of a list of expressions are worth trying on a line: a
// window of three bytes slides over the line, and only an expression of which
// the line holds a literal that it cannot do without is tried.
type Scanner struct {
	table [1 << 14][]needle
	Tests []test
	Clue  map[int]func() *regexp.Regexp // by index × maxParts + part
	plain []int                         // tests without literals: tried on the first lines only
}

type needle struct {
	branch
	test int
}

// A test is one expression: of a message, of a part of a clue, or of a reader of
// facts; the two others are -1.
type test struct {
	Re      func() *regexp.Regexp
	Message int
	Clue    int // index × maxParts + part
	Reader  int
}

const (
	MaxParts = 20
	maxPlain = 2000 // lines on which expressions without a literal are tried
)

// Scanner returns the scanner of all messages and clues, and of the expressions of
// readers of facts, which are the same in every call. It is made when a text is first
// read: that costs ten times as much as the rest, and a machine that is examined
// without one needs none.
func (k *Knowledge) Scanner(facts []string) *Scanner {
	k.made.Do(func() { k.scanner = newScanner(k, facts) })
	return k.scanner
}

func newScanner(k *Knowledge, facts []string) *Scanner {
	s := &Scanner{Clue: map[int]func() *regexp.Regexp{}}
	var exprs []string // of each test
	add := func(t test, expr string) {
		exprs = append(exprs, expr)
		s.add(t, expr)
	}
	for i, m := range k.Messages {
		add(test{Re: m.re, Message: i, Clue: -1, Reader: -1}, expression(m.Pattern))
	}
	for i, c := range k.Clues {
		for j, p := range append(slices.Clone(c.All), c.None...) {
			add(test{Message: -1, Clue: i*MaxParts + j, Reader: -1}, expression(p))
		}
	}
	for i, expr := range facts {
		add(test{Message: -1, Clue: -1, Reader: i}, "(?i)"+expr)
	}
	for n, set := range branchesOf(exprs) {
		s.index(n, set)
	}
	return s
}

// branchesOf asks [branches] for each expression, on all processors: it is nearly
// all that making a Scanner costs, 30 ms.
func branchesOf(exprs []string) [][]branch {
	sets := make([][]branch, len(exprs))
	workers := runtime.GOMAXPROCS(0)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for n := w; n < len(exprs); n += workers {
				sets[n] = branches(exprs[n])
			}
		})
	}
	all.Wait()
	return sets
}

func (s *Scanner) add(t test, expr string) {
	if t.Re == nil {
		t.Re = lazy.Regexp(expr)
	}
	s.Tests = append(s.Tests, t)
	if t.Clue >= 0 {
		s.Clue[t.Clue] = t.Re
	}
}

// index puts a test into the table by its literals.
func (s *Scanner) index(n int, set []branch) {
	if set == nil {
		s.plain = append(s.plain, n)
		return
	}
	for _, b := range set {
		h := gram(b.literal[0], b.literal[1], b.literal[2])
		s.table[h] = append(s.table[h], needle{b, n})
	}
}

func gram(a, b, c byte) int {
	return (int(a)<<9 ^ int(b)<<5 ^ int(c)) & (1<<14 - 1)
}

// A pass is one run of a Scanner over a text.
type Pass struct {
	*Scanner
	seen  []int // per test: the number of the last line that held one of its literals
	stamp int
	fold  []byte
	due   []int
}

func (s *Scanner) Start() *Pass { return &Pass{Scanner: s, seen: make([]int, len(s.Tests))} }

// candidates returns the tests worth trying on a line, in order. The slice is
// valid until the next call.
func (p *Pass) Candidates(line string) []int {
	p.stamp++
	p.due = p.due[:0]
	if p.stamp <= maxPlain {
		p.due = append(p.due, p.plain...)
	}
	p.fold = p.fold[:0]
	for i := range len(line) {
		p.fold = append(p.fold, lower(line[i]))
	}
	b := p.fold
	for i := 0; i+2 < len(b); i++ {
		for _, n := range p.table[gram(b[i], b[i+1], b[i+2])] {
			if p.seen[n.test] != p.stamp && len(b)-i >= len(n.literal) && string(b[i:i+len(n.literal)]) == n.literal && holds(b, n.more) {
				p.seen[n.test] = p.stamp
				p.due = append(p.due, n.test)
			}
		}
	}
	slices.Sort(p.due)
	return p.due
}

// holds reports whether a line holds a string of every set.
func holds(line []byte, sets [][]string) bool {
	for _, set := range sets {
		found := false
		for _, l := range set {
			if bytes.Contains(line, []byte(l)) {
				found = true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}
