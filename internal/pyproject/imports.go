package pyproject

import (
	"slices"
	"strings"

	"envfix/internal/pylex"
	"envfix/internal/text"
)

// An Import is a module that a Python file imports by its whole name, such as
// google.protobuf.message. Guarded: it does without, where it is not there. Inner: in a block,
// which need not be entered. Branch: in one of an if, whose other side may do without.
type Import struct {
	Module  string
	Guarded bool
	Inner   bool
	Branch  bool
}

// A block says of what is imported in it what an [Import] says.
type block struct {
	indent          int
	guarded, branch bool
}

// Imports are the modules that a Python file imports, its own package's relative ones
// aside. Its text is read, and nothing of it is run.
func Imports(content []byte) (out []Import) {
	tokens, _ := pylex.Tokens(string(text.UTF8(content)))
	all := span(tokens)
	around := []block{{indent: -1}}
	for i := range all {
		begins := i == 0 || all[i-1].Kind == 'e'
		if !begins && !all.is(i-1, ":") || all[i].Kind == 'e' {
			continue
		}
		s := all[i : i+slices.IndexFunc(all[i:], func(t token) bool { return t.Kind == 'e' })]
		for begins && s[0].Indent <= around[len(around)-1].indent {
			around = around[:len(around)-1]
		}
		has := func(word string) bool { return slices.ContainsFunc(s, func(t token) bool { return t.Text == word }) }
		in := around[len(around)-1]
		in.guarded = in.guarded || s.is(0, "except") || s.is(0, "try") && !all[i:].raises() || s.is(0, "if") && has("TYPE_CHECKING")
		in.branch = in.branch || (s.is(0, "if") || s.is(0, "elif") || s.is(0, "else") || s.is(0, "case")) && !has("__name__")
		if in != around[len(around)-1] {
			in.indent = s[0].Indent
			around = append(around, in)
		}
		out = append(out, text.Each(s.imported(), func(m string) Import { return Import{m, in.guarded, !begins || s[0].Indent > 0, in.branch} })...)
	}
	return out
}

// raises reports whether the first handler of the try that a span begins with raises itself.
func (s span) raises() (handled bool) {
	for i, t := range s[1:] {
		ends := s[i].Kind == 'e' && t.Indent <= s[0].Indent // of what belongs to the try, or to its handler
		switch {
		case handled && t.Kind == 'n' && t.Text == "raise":
			return true
		case ends && (handled || t.Text != "except"):
			return false
		}
		handled = handled || ends
	}
	return false
}

// imported are the modules that one statement imports.
func (s span) imported() (out []string) {
	if !s.is(0, "import") && !s.is(0, "from") {
		return nil
	}
	words := text.Each(s, func(t token) string { return strings.Trim(t.Text, "()") })
	line := strings.ReplaceAll(strings.Join(words, " "), " . ", ".") // of a relative import, "from.own import"
	base, names, _ := strings.Cut(line, "import ")
	base = strings.TrimSpace(strings.TrimPrefix(base, "from "))
	for part := range strings.SplitSeq(names, ",") {
		switch name := strings.Fields(part); {
		case strings.HasPrefix(base, "from") || len(name) == 0:
		case base == "":
			out = append(out, name[0])
		default:
			out = append(out, strings.TrimSuffix(base+"."+name[0], ".*"))
		}
	}
	return out
}
