// Package know holds what the doctor knows, read from data: the checks, the messages
// that programs print, what people write in their own words, the meaning of Xids, the
// causes and which of them explains which, the limits that rules compare with; and the
// scanner that finds messages in a text.
package know

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"envfix/data"
)

// A Check is one ailment that doctor knows: its cause in the vocabulary of
// causes ("none" outside of it), how bad it is, and the usual way out.
type Check struct {
	ID       string
	Group    string
	Cause    string
	Severity Severity
	Text     string
	Fix      []string
	Places   map[string][]string `key:"fix-"` // the way out on windows, macos, wsl and in a container, where it is another
	Guard    string              // what it must not be mistaken for
	Over     []string            `key:"explains"` // checks that it is the reason of, whatever their cause, where it is more than a symptom
	Source   string
}

// OfTorch reports whether the check is of torch's own build, code or speed, which says nothing
// of a program that torch has no part in.
func (c *Check) OfTorch() bool {
	return slices.Contains([]string{"python env", "performance", "code-level"}, c.Group)
}

// Everything stands in Over for all that was found.
const Everything = "*"

// A Message is one message that a program prints.
type Message struct {
	ID      string
	Program string
	Checks  []string // the first is the one meant unless other evidence decides
	Cause   string
	Text    string // what is wrong; "" as the first check says it
	Fix     []string
	Places  map[string][]string `key:"fix-"`     // the way out by place, where it is another, as of a Check
	Over    []string            `key:"explains"` // checks that it is the reason of
	Symptom bool                // it names what happened, not why
	Pattern string
	Example string
	Counter string // alike, and must not match
	Source  string

	once sync.Once
	re   *regexp.Regexp
}

// Matches reports whether a line holds the message.
func (m *Message) Matches(line string) bool {
	m.once.Do(func() { m.re = regexp.MustCompile(expression(m.Pattern)) })
	return m.re.MatchString(line)
}

// A Clue is what people write in their own words, or two lines that mean more
// together than apart. It names a check where every pattern of All is found and
// none of None.
type Clue struct {
	ID     string
	Checks []string
	Cause  string
	Text   string              // "": that of the check
	Fix    []string            // nil: that of the check
	Places map[string][]string `key:"fix-"`
	Weak   bool                // only where nothing else says why
	Over   []string            `key:"explains"` // checks that it is the reason of
	All    []string
	None   []string
}

// part is the expression of one of its parts, those that must not be found after the others.
func (c *Clue) part(i int) string {
	if i < len(c.All) {
		return c.All[i]
	}
	return c.None[i-len(c.All)]
}

// A Graph says of each cause what follows from it.
type Graph map[string]Cause

// A Cause is one of the vocabulary.
type Cause struct {
	Explains []string // those whose symptoms it brings about: mend this, and they go away
	Mended   string   // by which plan: [Choice], [Files]; "" none
}

// What mends a cause: another build or driver for this machine; or, where the choice
// is what is installed already, the same packages installed anew as well.
const (
	Choice = "choice"
	Files  = "files"
)

// Brings reports whether cause a brings about the symptoms of cause b.
func (g Graph) Brings(a, b string) bool { return slices.Contains(g[a].Explains, b) }

// Knowledge is what doctor and explain know.
type Knowledge struct {
	Checks   map[string]*Check
	Order    []string // ids of the checks in the order of the data
	Messages []*Message
	Clues    []*Clue
	Causes   Graph
	Xids     map[int]*Xid // by their number
	Limits   map[string]*Limit
	Classes  []*Class
	Rules    []*Rule
	Readers  []*Reader
	Faults   []*Fault   // of installers
	Printed  *Catalogue `compiled:"-"` // what programs print; nil in the form without it
	Index    Index      // of the compiled knowledge

	made    sync.Once
	scanner *Scanner
}

// A kind takes in the records of one kind of file.
type kind func(*Knowledge, record) error

// kindOf is a kind whose records each fill a T; own are the keys that add reads itself.
func kindOf[T any](add func(*Knowledge, record, *T) error, own ...string) kind {
	return func(k *Knowledge, r record) error {
		x := new(T)
		if err := r.fill(x, own...); err != nil {
			return err
		}
		return add(k, r, x)
	}
}

// kinds are those of [data.Knowledge], by how the names of their files begin.
func kinds() map[string]kind {
	return map[string]kind{
		"causes":     kindOf((*Knowledge).addCause, "id"),
		"checks":     kindOf((*Knowledge).addCheck),
		"messages":   kindOf((*Knowledge).addMessage),
		"clues":      kindOf((*Knowledge).addClue),
		"xids":       kindOf((*Knowledge).addXid, "ids"),
		"limits":     kindOf((*Knowledge).addLimit, "id", "note"),
		"rules":      kindOf((*Knowledge).addRule),
		"readers":    kindOf((*Knowledge).addReader),
		"installers": kindOf((*Knowledge).addFault),
		"classes":    kindOf((*Knowledge).addClass),
	}
}

// Load reads the files, as people write them. Its error names the file and line.
func Load(fsys fs.FS) (*Knowledge, error) {
	k := &Knowledge{Checks: map[string]*Check{}, Causes: Graph{}, Xids: map[int]*Xid{}, Limits: map[string]*Limit{}}
	adds := kinds()
	for _, file := range data.Knowledge {
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		records, err := parseRecords(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		add := adds[strings.FieldsFunc(file, func(r rune) bool { return r == '_' || r == '.' })[0]]
		for _, r := range records {
			if err := add(k, r); err != nil {
				return nil, fmt.Errorf("%s: line %d: %w", file, r.line, err)
			}
		}
	}
	return k, nil
}

func (k *Knowledge) addCause(r record, c *Cause) error {
	id := r.one("id")
	if _, twice := k.Causes[id]; twice || id == "" || id == "none" {
		return fmt.Errorf("%q is not a cause, or there twice", id)
	}
	if c.Mended != "" && c.Mended != Choice && c.Mended != Files {
		return fmt.Errorf("%q: %s is no way of mending", id, c.Mended)
	}
	k.Causes[id] = *c
	return nil
}

// cause reports whether a word is of the vocabulary of causes, or none.
func (k *Knowledge) cause(word string) bool {
	_, known := k.Causes[word]
	return known || word == "none"
}

func (k *Knowledge) addCheck(r record, c *Check) error {
	if r.keys["severity"] == nil || c.ID == "" || !k.cause(c.Cause) || k.Checks[c.ID] != nil {
		return fmt.Errorf("%q is not a check, or there twice", c.ID)
	}
	k.Checks[c.ID] = c
	k.Order = append(k.Order, c.ID)
	return nil
}

func (k *Knowledge) addMessage(_ record, m *Message) error {
	if m.ID == "" || m.Pattern == "" || slices.ContainsFunc(k.Messages, func(o *Message) bool { return o.ID == m.ID }) {
		return fmt.Errorf("%q is not a message, or there twice", m.ID)
	}
	if err := k.inherit(m.Checks, &m.Cause, &m.Fix, &m.Places); err != nil {
		return err
	}
	k.Messages = append(k.Messages, m)
	return nil
}

func (k *Knowledge) addClue(_ record, c *Clue) error {
	if c.ID == "" || len(c.All) == 0 {
		return fmt.Errorf("%q is not a clue", c.ID)
	}
	if err := k.inherit(c.Checks, &c.Cause, &c.Fix, &c.Places); err != nil {
		return err
	}
	k.Clues = append(k.Clues, c)
	return nil
}

// inherit takes the cause and the way out of the first check where an entry does
// not give them itself.
func (k *Knowledge) inherit(checks []string, cause *string, fix *[]string, places *map[string][]string) error {
	if len(checks) == 0 {
		return fmt.Errorf("no checks")
	}
	for _, id := range checks {
		if k.Checks[id] == nil {
			return fmt.Errorf("no check %s", id)
		}
	}
	if *cause == "" {
		*cause = k.Checks[checks[0]].Cause
	}
	if !k.cause(*cause) {
		return fmt.Errorf("no cause %s", *cause)
	}
	if len(*fix) == 0 {
		*fix = k.Checks[checks[0]].Fix
		if *places == nil {
			*places = k.Checks[checks[0]].Places
		}
	}
	return nil
}

// expression is the regular expression of a pattern: without regard to case, and
// with a blank outside brackets standing for any run of blanks ("a ?b": none or
// more).
func expression(pattern string) string {
	var b strings.Builder
	b.WriteString("(?i)")
	class := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		next := byte(0)
		if i+1 < len(pattern) {
			next = pattern[i+1]
		}
		switch {
		case c == '\\':
			b.WriteByte(c)
			b.WriteByte(next)
			i++
		case c == '[' && !class, c == ']' && class:
			class = c == '['
			b.WriteByte(c)
		case c != ' ' || class:
			b.WriteByte(c)
		case next == '?' || next == '*':
			b.WriteString(`\s*`)
			i++
		case next == '+':
			b.WriteString(`\s+`)
			i++
		default:
			b.WriteString(`\s+`)
		}
	}
	return b.String()
}
