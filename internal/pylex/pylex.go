// Package pylex reads the tokens of Python. It runs nothing, and needs no Python that is whole.
package pylex

import (
	"iter"
	"slices"
	"strings"
)

// A Token is a name, a string, an operator or the end of a statement of Python.
type Token struct {
	Kind   byte // 'n' name or number, 's' string, 'f' string with expressions in it, 'o' operator, 'e' end of a statement
	Text   string
	Indent int // of the line that its statement begins on
}

// Tokens reads Python; what is no Python gives tokens that mean nothing. whole says that
// every string and every bracket ends.
func Tokens(src string) (out []Token, whole bool) {
	l := lexer{src: src}
	l.lineStart()
	for l.at < len(l.src) {
		l.next()
	}
	return append(l.out, Token{Kind: 'e'}), !l.broken && len(l.open) == 0
}

type lexer struct {
	src    string
	at     int
	open   []byte // brackets
	broken bool
	indent int
	out    []Token
}

// blank are what stands between tokens, but for the ends of lines.
const blank = " \t\r\f"

func (l *lexer) lineStart() {
	rest := strings.TrimLeft(l.src[l.at:], blank)
	before := l.src[l.at : len(l.src)-len(rest)]
	if rest != "" && rest[0] != '\n' && rest[0] != '#' {
		l.indent = len(before) + 7*strings.Count(before, "\t")
	}
	l.at += len(before)
}

func (l *lexer) add(kind byte, text string) { l.out = append(l.out, Token{kind, text, l.indent}) }

func (l *lexer) next() {
	switch c := l.src[l.at]; {
	case c == '\n':
		l.at++
		if len(l.open) == 0 {
			l.add('e', "")
			l.lineStart()
		}
	case c == '\\' && l.at+1 < len(l.src):
		l.at += 2
	case c == '#':
		l.pass(func(c byte) bool { return c != '\n' })
	case strings.IndexByte(blank, c) >= 0:
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
		l.open = append(l.open, c)
	case ')', ']', '}':
		last := len(l.open) - 1
		l.broken = l.broken || last < 0 || c-l.open[last] > 2 // each stands one or two after its partner
		l.open = l.open[:max(0, last)]
	case 0:
		l.broken = true
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
		if c == '\\' && l.at+1 < len(l.src) {
			l.at++
			c = l.src[l.at]
			if strings.Contains(prefix, "r") { // it ends no string either
				s.WriteByte('\\')
			} else if i := strings.IndexByte("nt", c); i >= 0 {
				c = "\n\t"[i]
			}
		}
		if c != '\n' || l.src[l.at-1] != '\\' {
			s.WriteByte(c)
		}
		l.at++
	}
	l.broken = l.broken || !strings.HasPrefix(l.src[l.at:], quote)
	l.at = min(len(l.src), l.at+len(quote))
	kind := byte('s')
	if strings.Contains(prefix, "f") && strings.Contains(s.String(), "{") {
		kind = 'f'
	}
	if n := len(l.out); n > 0 && l.out[n-1].Kind == 's' && kind == 's' {
		l.out[n-1].Text += s.String()
		return
	}
	l.add(kind, s.String())
}

// within reports whether a string goes on: one in single quotes that is never closed ends
// with its line.
func (l *lexer) within(quote string) bool {
	return l.at < len(l.src) && !strings.HasPrefix(l.src[l.at:], quote) && (len(quote) > 1 || l.src[l.at] != '\n')
}

// Whole reports whether a source of Python ends as one does that was not cut off: its strings and brackets close, its lines are
// indented as their blocks ask, what opens a block has one, and it holds neither zeros nor the marks of a merge.
func Whole(src string) bool {
	all, whole := Tokens(src)
	return whole && indented(all) && !strings.Contains(src, "\x00") && !strings.Contains(src, "\n<<<<<<< ")
}

// blocks are the words that begin a statement with a block (those that are only words there).
const blocks = " def class if elif else for while try except finally with async "

// indented reports whether statements stand as deep as the blocks that they are in, and what begins one says so.
func indented(all []Token) bool {
	depths, opens := []int{0}, false
	for statement := range statements(all) {
		first, last := statement[0], statement[len(statement)-1]
		switch in := depths[len(depths)-1]; {
		case opens != (first.Indent > in):
			return false
		case opens:
			depths = append(depths, first.Indent)
		}
		for depths[len(depths)-1] > first.Indent {
			depths = depths[:len(depths)-1]
		}
		opens = last.Kind == 'o' && last.Text == ":"
		if depths[len(depths)-1] != first.Indent || first.Kind == 'n' && strings.Contains(blocks, " "+first.Text+" ") &&
			!slices.ContainsFunc(statement, func(t Token) bool { return t.Text == ":" }) {
			return false
		}
	}
	return !opens
}

// statements are the tokens between ends, where there are any.
func statements(all []Token) iter.Seq[[]Token] {
	return func(yield func([]Token) bool) {
		from := 0
		for i, t := range all {
			if t.Kind != 'e' {
				continue
			}
			if i > from && !yield(all[from:i]) {
				return
			}
			from = i + 1
		}
	}
}
