package matrix

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
)

// A Fault is one thing wrong with the data, at a place.
type Fault struct {
	File string `json:"file"` // data/torch/2.9.yaml
	Line int    `json:"line"` // 0: the file as a whole
	Text string `json:"text"`
}

// String returns "file:line: text".
func (f Fault) String() string {
	return say.Either(f.Line == 0, f.File+": "+f.Text, fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text))
}

// maxDepth bounds the nesting of a file; the deepest of ours is 6.
const maxDepth = 16

// A source reads one YAML file and collects every fault in it. It is the wall
// around yaml.v3: nothing else of envfix sees a node.
type source struct {
	file   string
	lax    bool // unknown keys are allowed
	faults []Fault
}

func (s *source) fault(line int, format string, args ...any) {
	s.faults = append(s.faults, Fault{s.file, line, fmt.Sprintf(format, args...)})
}

// parse returns the mapping at the root of a file of one YAML document.
func (s *source) parse(data []byte) (object, bool) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			s.fault(0, "the file is empty")
		} else {
			s.fault(0, "%s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
		return object{}, false
	}
	var second yaml.Node
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		s.fault(max(second.Line, 1), "a second YAML document: one file holds one")
		return object{}, false
	}
	root := doc.Content[0]
	if !s.plain(root, 0) {
		return object{}, false
	}
	return s.object(root), true
}

// plain refuses what our files never need and an attacker does: aliases (a
// hundred bytes of them expand to gigabytes), merge keys, tags, deep nesting.
func (s *source) plain(n *yaml.Node, depth int) bool {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		s.fault(n.Line, "anchors and aliases are not read here: use a named set")
		return false
	case n.Style&yaml.TaggedStyle != 0:
		s.fault(n.Line, "tag %s is not read here", n.Tag)
		return false
	case depth > maxDepth:
		s.fault(n.Line, "nested more than %d deep", maxDepth)
		return false
	}
	return !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return !s.plain(c, depth+1) })
}

// An object is a mapping whose keys are taken one by one; what is left over is
// unknown. An object of no node has no keys.
type object struct {
	s    *source
	line int
	keys []string
	at   map[string]*yaml.Node
}

func (s *source) object(n *yaml.Node) object {
	o := object{s: s, line: n.Line, at: map[string]*yaml.Node{}}
	if n.Kind != yaml.MappingNode {
		s.fault(n.Line, "%s where a mapping was needed", kind(n))
		return o
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode {
			s.fault(k.Line, "%s as a key", kind(k))
			continue
		}
		if _, twice := o.at[k.Value]; twice {
			s.fault(k.Line, "key %q is there twice", text.Cut(k.Value, 60))
			continue
		}
		o.at[k.Value] = n.Content[i+1]
		o.keys = append(o.keys, k.Value)
	}
	return o
}

func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return fmt.Sprintf("%q", text.Cut(n.Value, 60))
}

// take removes a key and returns its node, or nil.
func (o object) take(key string) *yaml.Node {
	n := o.at[key]
	delete(o.at, key)
	return n
}

func (o object) has(key string) bool { return o.at[key] != nil }

// done reports the keys that nobody took.
func (o object) done() {
	if o.s == nil || o.s.lax {
		return
	}
	for _, k := range o.keys {
		if n := o.at[k]; n != nil {
			o.s.fault(n.Line, "unknown key %q", text.Cut(k, 60))
		}
	}
}

// scalar returns the text of a key; quoted says that YAML must not have been
// able to read it as a number (12.10 would become 12.1).
func (o object) scalar(key string, quoted bool) (string, int) {
	n := o.take(key)
	if n == nil {
		return "", o.line
	}
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		o.s.fault(n.Line, "%s: %s where text was needed", key, kind(n))
		return "", n.Line
	}
	if quoted && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 {
		o.s.fault(n.Line, "%s: %s must be quoted, or YAML reads a version as a number", key, text.Cut(n.Value, 60))
	}
	if i := strings.IndexFunc(n.Value, func(r rune) bool { return r < ' ' || r == 0x7f }); i >= 0 {
		o.s.fault(n.Line, "%s: a control character", key)
		return "", n.Line
	}
	return n.Value, n.Line
}

func (o object) text(key string) string {
	t, _ := o.scalar(key, false)
	return t
}

// one is text that must be one of some values.
func (o object) one(key string, of ...string) string {
	t, line := o.scalar(key, false)
	if slices.Contains(of, t) {
		return t
	}
	o.s.fault(line, "%s: %q is none of %s", key, text.Cut(t, 60), strings.Join(of, ", "))
	return ""
}

func (o object) yes(key string) bool {
	t, line := o.scalar(key, false)
	if t != "" && t != "true" && t != "false" {
		o.s.fault(line, "%s: %q is not true or false", key, text.Cut(t, 60))
	}
	return t == "true"
}

// value reads the text of a key, "" being none.
func value[T any](o object, key string, quoted bool, parse func(string) (T, error)) (v T) {
	t, line := o.scalar(key, quoted)
	if t == "" {
		return v
	}
	v, err := parse(t)
	if err != nil {
		o.s.fault(line, "%s: %v", key, err)
	}
	return v
}

// values reads quoted words parted by spaces; what is none is left out.
func values[T any](o object, key string, parse func(string) (T, error)) (out []T) {
	t, line := o.scalar(key, true)
	for _, w := range strings.Fields(t) {
		v, err := parse(w)
		if err != nil {
			o.s.fault(line, "%s: %v", key, err)
			continue
		}
		out = append(out, v)
	}
	return out
}

func (o object) number(key string) int            { return value(o, key, false, parseNumber) }
func (o object) dotted(key string) version.Dotted { return value(o, key, true, version.ParseDotted) }
func (o object) python(key string) version.Python { return value(o, key, true, version.ParsePython) }
func (o object) specifier(key string) version.Specifier {
	return value(o, key, true, version.ParseSpecifier)
}

func parseNumber(t string) (int, error) {
	n, err := strconv.Atoi(t)
	if err != nil || n < 0 || n > 1<<30 {
		return 0, fmt.Errorf("%q is not a number", text.Cut(t, 60))
	}
	return n, nil
}

func parseSM(t string) (machine.SM, error) {
	c, err := parseCode(t)
	if err != nil || c.Suffix != "" {
		return machine.SM{}, fmt.Errorf("%q is not a compute capability such as 8.6", text.Cut(t, 60))
	}
	return c.SM, nil
}

// words is a text of words parted by spaces: "5.0 6.0 9.0a".
func (o object) words(key string) []string { return strings.Fields(o.text(key)) }

// versions is words that must be quoted.
func (o object) versions(key string) []string {
	t, _ := o.scalar(key, true)
	return strings.Fields(t)
}

// parseCode reads "9.0", "9.0a" or "10.0f".
func parseCode(w string) (Code, error) {
	bad := fmt.Errorf("%q is not a GPU code such as 9.0 or 9.0a", text.Cut(w, 60))
	t := strings.TrimRight(w, "af")
	suffix := w[len(t):]
	if len(suffix) > 1 || !strings.Contains(t, ".") {
		return Code{}, bad
	}
	sm, err := machine.ParseSM(t)
	if err != nil {
		return Code{}, bad
	}
	return Code{sm, suffix}, nil
}

// list calls f with each mapping of a list.
func (o object) list(key string, f func(object)) {
	n := o.take(key)
	if n == nil {
		return
	}
	if n.Kind != yaml.SequenceNode {
		o.s.fault(n.Line, "%s: %s where a list was needed", key, kind(n))
		return
	}
	for _, c := range n.Content {
		if c.Kind != yaml.MappingNode {
			o.s.fault(c.Line, "%s: %s where a mapping was needed", key, kind(c))
			continue
		}
		f(o.s.object(c))
	}
}

// mapping is the object under a key; an absent key gives an empty one.
func (o object) mapping(key string) object {
	if n := o.take(key); n != nil {
		return o.s.object(n)
	}
	return object{s: o.s, line: o.line}
}
