package pyproject

import (
	"slices"
	"strings"

	"envfix/internal/pylex"
)

// A setup.py is a program, and nobody's program is run to be read. What it says is found
// in its tokens: which names stand for which expressions, and which strings an expression
// leads to. An answer that the program computes otherwise is not found.

type token = pylex.Token

// A span is a run of tokens: an expression.
type span []token

// A program is what the names of a Python file stand for. Scopes are not told apart.
type program struct {
	all   span
	named map[string][]span          // every expression that is assigned, appended, looped over, returned
	keyed map[string]map[string]span // name["key"] = expression
	funcs map[string]bool
}

// readProgram reads the statements of a Python file.
func readProgram(src string) *program {
	all, _ := pylex.Tokens(src)
	p := &program{all: all, named: map[string][]span{}, keyed: map[string]map[string]span{}, funcs: map[string]bool{}}
	type def struct {
		name   string
		indent int
	}
	var within []def
	for from := 0; from < len(p.all); {
		s := p.all[from:]
		s = s[:slices.IndexFunc(s, func(t token) bool { return t.Kind == 'e' })]
		from += len(s) + 1
		if len(s) == 0 {
			continue
		}
		for len(within) > 0 && s[0].Indent <= within[len(within)-1].indent {
			within = within[:len(within)-1]
		}
		switch {
		case s.is(0, "def") && len(s) > 2:
			p.funcs[s[1].Text] = true
			p.bind(s[1].Text, s[2:]) // its defaults
			within = append(within, def{s[1].Text, s[0].Indent})
		case s.is(0, "return", "yield") && len(within) > 0:
			p.bind(within[len(within)-1].name, s[1:])
		default:
			p.statement(s)
		}
	}
	return p
}

// is reports whether one of some words or operators stands at i.
func (s span) is(i int, texts ...string) bool {
	return s.kind(i) != 0 && s[i].Kind != 's' && s[i].Kind != 'f' && slices.Contains(texts, s[i].Text)
}

// kind is the kind of the token at i; 0 there is none.
func (s span) kind(i int) byte {
	if i < 0 || i >= len(s) {
		return 0
	}
	return s[i].Kind
}

func (p *program) bind(name string, s span) {
	if len(p.named[name]) < 100 {
		p.named[name] = append(p.named[name], s)
	}
}

// statement binds the names of one statement.
func (p *program) statement(s span) {
	switch {
	case s.is(0, "with", "for"):
		p.header(s)
	case s.is(1, "=", "+="):
		p.bind(s[0].Text, s[2:])
	case s.is(1, ":"): // name: type = expression
		if at := s.top("="); at > 0 {
			p.bind(s[0].Text, s[at+1:])
		}
	case s.is(1, "[") && len(s) > 4 && s[2].Kind == 's' && s.is(3, "]") && s.is(4, "="):
		if p.keyed[s[0].Text] == nil {
			p.keyed[s[0].Text] = map[string]span{}
		}
		p.keyed[s[0].Text][s[2].Text] = s[5:]
	case s.is(1, ".") && s.is(3, "(") && s.is(2, "append", "extend", "update"):
		inner := append(span{{Kind: 'o', Text: "["}}, s[4:len(s)-1]...)
		p.bind(s[0].Text, append(inner, token{Kind: 'o', Text: "]"}))
	}
}

// header binds what `with open(…) as f` and `for line in f` name.
func (p *program) header(s span) {
	for i := range s {
		switch {
		case s.is(0, "with") && s.is(i, "as") && i+1 < len(s):
			p.bind(s[i+1].Text, s[1:i])
		case s.is(0, "for") && s.is(i, "in"):
			for _, t := range s[1:i] {
				p.bind(t.Text, s[i+1:])
			}
			return
		}
	}
}

// top is where an operator stands outside of all brackets; -1 nowhere.
func (s span) top(op string) int {
	depth := 0
	for i, t := range s {
		if t.Kind != 'o' {
			continue
		}
		if depth == 0 && t.Text == op {
			return i
		}
		depth += nesting(t)
	}
	return -1
}

func nesting(t token) int {
	if t.Kind != 'o' {
		return 0
	}
	return strings.Count("([{", t.Text) - strings.Count(")]}", t.Text)
}

// parts splits the inside of brackets that begin at from at its commas, and returns where
// they end.
func (s span) parts(from int) (out []span, end int) {
	depth, start := 0, from+1
	for i := from; i < len(s); i++ {
		depth += nesting(s[i])
		if depth == 0 || depth == 1 && s.is(i, ",") {
			if i > start {
				out = append(out, s[start:i])
			}
			start = i + 1
		}
		if depth == 0 {
			return out, i
		}
	}
	return out, len(s)
}
