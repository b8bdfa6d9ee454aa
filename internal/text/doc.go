package text

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// A Quoted is text that leaves for one place, such as a comment, a string of YAML or a word
// of a shell. Only this package makes one, by the function for that place.
type Quoted struct{ s string }

func (q Quoted) String() string { return q.s }

// A constant is text that stands in the program itself: the compiler converts a literal to
// it, and no other string of another package.
type constant string

// A Doc is a text in the form of another program. It holds what the program itself says,
// and values that were quoted for their place; a string cannot be put into it.
type Doc struct{ b strings.Builder }

// Add writes a form, each %s in it the next of the values.
func (d *Doc) Add(form constant, values ...Quoted) {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	fmt.Fprintf(&d.b, string(form), all...)
}

// Quoted is the whole text, also as a part of another one.
func (d *Doc) Quoted() Quoted { return Quoted{d.b.String()} }

// Const is text of the program itself.
func Const(c constant) Quoted { return Quoted{string(c)} }

// Form is a form with its values, as [Doc.Add] writes it.
func Form(form constant, values ...Quoted) Quoted {
	var d Doc
	d.Add(form, values...)
	return d.Quoted()
}

// Join puts a constant between the pieces.
func Join(pieces []Quoted, between constant) Quoted {
	var all []string
	for _, p := range pieces {
		all = append(all, p.s)
	}
	return Quoted{strings.Join(all, string(between))}
}

// Int is a number.
func Int(n int) Quoted { return Quoted{strconv.Itoa(n)} }

// Word is a name, a version or a path of plain characters, which means itself in every form
// there is; what else stands in it becomes "_".
func Word(s string) Quoted {
	return Quoted{strings.Map(func(r rune) rune {
		if r < 0x80 && isPlainWord(string(r)) {
			return r
		}
		return '_'
	}, s)}
}

// Comment is the rest of a line, behind the mark of a comment.
func Comment(s string) Quoted { return Quoted{Escape(s)} }

// Lines is a text of several lines, each indented, as in a block of YAML.
func Lines(s string, indent int) Quoted {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.Repeat(" ", indent) + strings.ReplaceAll(Escape(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "\x00")), `\x00`, "\t") + "\n")
	}
	return Quoted{b.String()}
}

// JSON is a string of JSON in its quotes; one of YAML and of TOML as well.
func JSON(s string) Quoted {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always can be
	return Quoted{string(EscapeJSON([]byte(strings.TrimSuffix(b.String(), "\n"))))}
}

// POSIX is one word of a POSIX shell. Its error says that s has characters that would reach
// the terminal of whoever reads the script; line breaks and tabs may stand in it.
func POSIX(s string) (Quoted, error) {
	if IsWord(s) {
		return Quoted{s}, nil
	}
	q, err := single(s, "a POSIX shell", strings.NewReplacer("'", `'\''`))
	if err == nil && strings.Contains(s, "'") && !strings.ContainsAny(s, "\"$`\\!\n\t") { // is easier to read
		q = Quoted{`"` + s + `"`}
	}
	return q, err
}

// Fish is one word of fish.
func Fish(s string) (Quoted, error) {
	return single(s, "fish", strings.NewReplacer(`\`, `\\`, "'", `\'`))
}

// PowerShell is one string in single quotes, in which nothing is expanded. PowerShell takes
// the typographic ones for the plain one.
func PowerShell(s string) (Quoted, error) {
	return single(s, "PowerShell", strings.NewReplacer("'", "''", "\u2018", "\u2018\u2018", "\u2019", "\u2019\u2019", "\u201a", "\u201a\u201a", "\u201b", "\u201b\u201b"))
}

func single(s, shell string, quotes *strings.Replacer) (Quoted, error) {
	if strings.IndexFunc(s, func(r rune) bool { return r != '\n' && r != '\t' && (unprintable(r) || r == unicode.ReplacementChar) }) >= 0 {
		return Quoted{}, fmt.Errorf("%q cannot be written for %s: it has characters that act on a terminal, or that nobody sees", s, shell)
	}
	return Quoted{"'" + quotes.Replace(s) + "'"}, nil
}

// IsWord reports whether every shell reads s as itself; zsh expands =name.
func IsWord(s string) bool { return s != "" && s[0] != '=' && isPlainWord(s) }

func isPlainWord(s string) bool {
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-") == ""
}
