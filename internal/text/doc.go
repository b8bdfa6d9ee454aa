package text

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// A Quoted is text that leaves for one place, such as a comment, a string of YAML or a word
// of a shell. Only this package makes one, by the function for that place. What it is built
// of may have had no form there: then it is nothing, and says so where it leaves.
type Quoted struct {
	s   string
	err error
}

// String is the text, for a sentence or a value that is quoted again; internal/ci/gates
// knows where.
func (q Quoted) String() string { return q.s }

// Err says what could not be written.
func (q Quoted) Err() error { return q.err }

// WriteTo writes the text, or nothing where it has an error.
func (q Quoted) WriteTo(w io.Writer) (int64, error) {
	if q.err != nil {
		return 0, q.err
	}
	n, err := io.WriteString(w, q.s)
	return int64(n), err
}

// A constant is text that stands in the program itself: the compiler converts a literal to
// it, and no other string of another package.
type constant string

// A Doc is a text in the form of another program. It holds what the program itself says,
// and values that were quoted for their place; a string cannot be put into it.
type Doc struct {
	b   strings.Builder
	err error // the first of a value
}

// Add writes a form, each %s in it the next of the values.
func (d *Doc) Add(form constant, values ...Quoted) {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v.s
		d.err = cmp.Or(d.err, v.err)
	}
	fmt.Fprintf(&d.b, string(form), all...)
}

// Quoted is the whole text, also as a part of another one.
func (d *Doc) Quoted() Quoted {
	if d.err != nil {
		return Quoted{err: d.err}
	}
	return Quoted{s: d.b.String()}
}

// Fail is a text that cannot be written, and why.
func Fail(err error) Quoted { return Quoted{err: err} }

// Const is text of the program itself.
func Const(c constant) Quoted { return Quoted{s: string(c)} }

// Form is a form with its values, as [Doc.Add] writes it.
func Form(form constant, values ...Quoted) Quoted {
	var d Doc
	d.Add(form, values...)
	return d.Quoted()
}

// Join puts a constant between the pieces.
func Join(pieces []Quoted, between constant) Quoted {
	var d Doc
	for i, p := range pieces {
		if i > 0 {
			d.b.WriteString(string(between))
		}
		d.Add("%s", p)
	}
	return d.Quoted()
}

// Int is a number.
func Int(n int) Quoted { return Quoted{s: strconv.Itoa(n)} }

// Octal is the mode of a file.
func Octal(mode uint32) Quoted { return Quoted{s: fmt.Sprintf("%o", mode&0o777)} }

// Word is a name, a version or a path of plain characters, which means itself in every form
// there is; what else stands in it becomes "_".
func Word(s string) Quoted {
	return Quoted{s: strings.Map(func(r rune) rune {
		if r < 0x80 && isPlainWord(string(r)) {
			return r
		}
		return '_'
	}, s)}
}

// Comment is the rest of a line, behind the mark of a comment.
func Comment(s string) Quoted { return Quoted{s: Printable(s)} }

// Lines is a text of several lines, each indented, as in a block of YAML.
func Lines(s string, indent int) Quoted {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.Repeat(" ", indent) + strings.ReplaceAll(Escape(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "\x00")), `\x00`, "\t") + "\n")
	}
	return Quoted{s: b.String()}
}

// JSON is a string of JSON in its quotes; one of YAML and of TOML as well.
func JSON(s string) Quoted {
	b, _ := Encoded(s, "") // a string always can be
	return Quoted{s: string(EscapeJSON(bytes.TrimSuffix(b, []byte("\n"))))}
}

// Encoded is v as JSON in which < and & stand as they are, with a line end.
func Encoded(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return b.Bytes(), err
}

// JSON is the text itself as such a string.
func (q Quoted) JSON() Quoted { return Quoted{JSON(q.s).s, q.err} }

// POSIX is one word of a POSIX shell. It has none for characters that would reach the
// terminal of whoever reads the script; line breaks and tabs may stand in it.
func POSIX(s string) Quoted {
	if IsWord(s) {
		return Quoted{s: s}
	}
	q := single(s, "a POSIX shell", "'", `'\''`)
	if q.err == nil && strings.Contains(s, "'") && !strings.ContainsAny(s, "\"$`\\!\n\t") { // is easier to read
		q.s = `"` + s + `"`
	}
	return q
}

// Command is a command in a sentence, as a POSIX shell reads it. What no shell can be given
// stands there written out.
func Command(argv ...string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		q := POSIX(a)
		if q.err != nil {
			q = POSIX(Escape(a))
		}
		words[i] = q.s
	}
	return strings.Join(words, " ")
}

// Fish is one word of fish.
func Fish(s string) Quoted { return single(s, "fish", `\`, `\\`, "'", `\'`) }

// PowerShell is one string in single quotes, in which nothing is expanded. PowerShell takes
// the typographic ones for the plain one.
func PowerShell(s string) Quoted {
	return single(s, "PowerShell", "'", "''", "\u2018", "\u2018\u2018", "\u2019", "\u2019\u2019", "\u201a", "\u201a\u201a", "\u201b", "\u201b\u201b")
}

func single(s, shell string, quotes ...string) Quoted {
	if strings.IndexFunc(s, func(r rune) bool { return r != '\n' && r != '\t' && (unprintable(r) || r == unicode.ReplacementChar) }) >= 0 {
		return Fail(fmt.Errorf("%q cannot be written for %s: it has characters that act on a terminal, or that nobody sees", s, shell))
	}
	return Quoted{s: "'" + strings.NewReplacer(quotes...).Replace(s) + "'"}
}

// IsWord reports whether every shell reads s as itself; zsh expands =name.
func IsWord(s string) bool { return s != "" && s[0] != '=' && isPlainWord(s) }

func isPlainWord(s string) bool {
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-") == ""
}
