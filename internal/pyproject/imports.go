package pyproject

import "envfix/internal/text"

// An Import is a module that a Python file imports by its whole name, such as
// google.protobuf.message. Guarded: it does without, where it is not there.
type Import struct {
	Module  string
	Guarded bool
}

// Imports are the modules that a Python file imports, its own package's relative ones
// aside. Its text is read, and nothing of it is run.
func Imports(content []byte) (out []Import) {
	all := span(tokens(string(text.UTF8(content))))
	var guards []int // the indents of the blocks that a statement is within, which do without what they import
	for from := 0; from < len(all); {
		to := from
		for all[to].kind != 'e' {
			to++
		}
		s := all[from:to]
		from = to + 1
		if len(s) == 0 {
			continue
		}
		for len(guards) > 0 && s[0].indent <= guards[len(guards)-1] {
			guards = guards[:len(guards)-1]
		}
		guard := s.is(0, "try") || s.is(0, "except") || s.is(0, "if") && s.mentions("TYPE_CHECKING")
		if guard {
			guards = append(guards, s[0].indent)
		}
		for i := range s {
			if i == 0 || s.is(i-1, ":") {
				for _, m := range s[i:].imported() {
					out = append(out, Import{m, len(guards) > 0})
				}
			}
		}
	}
	return out
}

func (s span) mentions(name string) bool {
	for i := range s {
		if s.is(i, name) {
			return true
		}
	}
	return false
}

// imported are the modules that one statement imports.
func (s span) imported() (out []string) {
	if s.is(0, "import") {
		for rest := s[1:]; len(rest) > 0; {
			name, end := rest.dotted()
			out = append(out, name)
			for end < len(rest) && !rest.is(end, ",") {
				end++
			}
			rest = rest[min(end+1, len(rest)):]
		}
		return out
	}
	if !s.is(0, "from") || len(s) < 4 || s.is(1, ".") {
		return nil
	}
	base, end := s[1:].dotted()
	if end++; !s.is(end, "import") {
		return nil
	}
	for i := end + 1; i < len(s); i++ {
		switch {
		case s.is(i, "*"):
			out = append(out, base)
		case s[i].kind == 'n' && (s.is(i-1, "import") || s.is(i-1, ",") || s.is(i-1, "(")):
			out = append(out, base+"."+s[i].text)
		}
	}
	return out
}

// dotted is the name that an expression begins with, and where it ends.
func (s span) dotted() (name string, end int) {
	for end < len(s) && (s[end].kind == 'n') != (s.is(end, ".")) && !s.is(end, "as") && !s.is(end, "import") {
		name += s[end].text
		end++
	}
	return name, end
}
