package pyproject

import (
	"slices"
	"strings"
)

// A setup.py is a program, and nobody's program is run to be read. What it says is found
// in its tokens: which names stand for which expressions, and which strings an expression
// leads to. An answer that the program computes otherwise is not found.

// A token is a name, a string, an operator or the end of a statement of Python.
type token struct {
	kind   byte // 'n' name or number, 's' string, 'f' string with expressions in it, 'o' operator, 'e' end of a statement
	text   string
	indent int // of the line that its statement begins on
}

// tokens reads Python; what is no Python gives tokens that mean nothing.
func tokens(src string) []token {
	l := lexer{src: src}
	l.lineStart()
	for l.at < len(l.src) {
		l.next()
	}
	return append(l.out, token{kind: 'e'})
}

type lexer struct {
	src    string
	at     int
	depth  int // of brackets
	indent int
	out    []token
}

func (l *lexer) lineStart() {
	rest := strings.TrimLeft(l.src[l.at:], " \t")
	n := len(l.src) - l.at - len(rest)
	if rest != "" && rest[0] != '\n' && rest[0] != '\r' && rest[0] != '#' {
		l.indent = n
	}
	l.at += n
}

func (l *lexer) add(kind byte, text string) { l.out = append(l.out, token{kind, text, l.indent}) }

func (l *lexer) next() {
	switch c := l.src[l.at]; {
	case c == '\n':
		l.at++
		if l.depth == 0 {
			l.add('e', "")
			l.lineStart()
		}
	case c == '\\' && l.at+1 < len(l.src):
		l.at += 2
	case c == '#':
		l.pass(func(c byte) bool { return c != '\n' })
	case strings.IndexByte(" \t\r", c) >= 0:
		l.at++
	case isWord(c):
		word := l.pass(isWord)
		if strings.IndexAny(l.src[l.at:], `"'`) == 0 && strings.Trim(strings.ToLower(word), "rbfu") == "" {
			l.quoted(strings.ToLower(word))
			return
		}
		l.add('n', word)
	case c == '"' || c == '\'':
		l.quoted("")
	default:
		l.operator(c)
	}
}

// pass goes on while the next byte is of a kind, and returns what it passed.
func (l *lexer) pass(kind func(byte) bool) string {
	from := l.at
	for l.at < len(l.src) && kind(l.src[l.at]) {
		l.at++
	}
	return l.src[from:l.at]
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func (l *lexer) operator(c byte) {
	switch c {
	case '(', '[', '{':
		l.depth++
	case ')', ']', '}':
		l.depth = max(0, l.depth-1)
	case ';':
		l.at++
		l.add('e', "")
		return
	}
	op := string(c)
	for _, two := range []string{"==", "!=", "+=", "**", "<=", ">="} {
		if strings.HasPrefix(l.src[l.at:], two) {
			op = two
		}
	}
	l.at += len(op)
	l.add('o', op)
}

// quoted reads a string that begins here; strings beside each other are one.
func (l *lexer) quoted(prefix string) {
	quote := l.src[l.at : l.at+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(l.src[l.at:], triple) {
		quote = triple
	}
	l.at += len(quote)
	var s strings.Builder
	for l.within(quote) {
		c := l.src[l.at]
		if c == '\\' && !strings.Contains(prefix, "r") && l.at+1 < len(l.src) {
			l.at++
			c = l.src[l.at]
			if i := strings.IndexByte("nt", c); i >= 0 {
				c = "\n\t"[i]
			}
		}
		if c != '\n' || l.src[l.at-1] != '\\' {
			s.WriteByte(c)
		}
		l.at++
	}
	l.at = min(len(l.src), l.at+len(quote))
	kind := byte('s')
	if strings.Contains(prefix, "f") && strings.Contains(s.String(), "{") {
		kind = 'f'
	}
	if n := len(l.out); n > 0 && l.out[n-1].kind == 's' && kind == 's' {
		l.out[n-1].text += s.String()
		return
	}
	l.add(kind, s.String())
}

// within reports whether a string goes on: one in single quotes that is never closed ends
// with its line.
func (l *lexer) within(quote string) bool {
	return l.at < len(l.src) && !strings.HasPrefix(l.src[l.at:], quote) && (len(quote) > 1 || l.src[l.at] != '\n')
}

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
	p := &program{all: tokens(src), named: map[string][]span{}, keyed: map[string]map[string]span{}, funcs: map[string]bool{}}
	type def struct {
		name   string
		indent int
	}
	var within []def
	for from := 0; from < len(p.all); {
		s := p.all[from:]
		s = s[:slices.IndexFunc(s, func(t token) bool { return t.kind == 'e' })]
		from += len(s) + 1
		if len(s) == 0 {
			continue
		}
		for len(within) > 0 && s[0].indent <= within[len(within)-1].indent {
			within = within[:len(within)-1]
		}
		switch {
		case s.is(0, "def") && len(s) > 2:
			p.funcs[s[1].text] = true
			p.bind(s[1].text, s[2:]) // its defaults
			within = append(within, def{s[1].text, s[0].indent})
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
	return s.kind(i) != 0 && s[i].kind != 's' && s[i].kind != 'f' && slices.Contains(texts, s[i].text)
}

// kind is the kind of the token at i; 0 there is none.
func (s span) kind(i int) byte {
	if i < 0 || i >= len(s) {
		return 0
	}
	return s[i].kind
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
		p.bind(s[0].text, s[2:])
	case s.is(1, ":"): // name: type = expression
		if at := s.top("="); at > 0 {
			p.bind(s[0].text, s[at+1:])
		}
	case s.is(1, "[") && len(s) > 4 && s[2].kind == 's' && s.is(3, "]") && s.is(4, "="):
		if p.keyed[s[0].text] == nil {
			p.keyed[s[0].text] = map[string]span{}
		}
		p.keyed[s[0].text][s[2].text] = s[5:]
	case s.is(1, ".") && s.is(3, "(") && s.is(2, "append", "extend", "update"):
		inner := append(span{{kind: 'o', text: "["}}, s[4:len(s)-1]...)
		p.bind(s[0].text, append(inner, token{kind: 'o', text: "]"}))
	}
}

// header binds what `with open(…) as f` and `for line in f` name.
func (p *program) header(s span) {
	for i := range s {
		switch {
		case s.is(0, "with") && s.is(i, "as") && i+1 < len(s):
			p.bind(s[i+1].text, s[1:i])
		case s.is(0, "for") && s.is(i, "in"):
			for _, t := range s[1:i] {
				p.bind(t.text, s[i+1:])
			}
			return
		}
	}
}

// top is where an operator stands outside of all brackets; -1 nowhere.
func (s span) top(op string) int {
	depth := 0
	for i, t := range s {
		if t.kind != 'o' {
			continue
		}
		if depth == 0 && t.text == op {
			return i
		}
		depth += nesting(t)
	}
	return -1
}

func nesting(t token) int {
	if t.kind != 'o' {
		return 0
	}
	return strings.Count("([{", t.text) - strings.Count(")]}", t.text)
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
