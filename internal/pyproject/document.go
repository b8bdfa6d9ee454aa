package pyproject

import (
	"slices"
	"strings"

	"envfix/internal/say"

	"github.com/pelletier/go-toml/v2/unstable"
)

// A doc is the text of a TOML file with the places of its tables and keys.
type doc struct{ text string }

func (d *doc) splice(from, to int, with string) { d.text = d.text[:from] + with + d.text[to:] }

func (d *doc) lineStart(at int) int { return strings.LastIndexByte(d.text[:at], '\n') + 1 }

// lineEnd is the beginning of the line after at.
func (d *doc) lineEnd(at int) int {
	if i := strings.IndexByte(d.text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(d.text)
}

// A value is what stands for a key: its place, and where it is a list its strings.
type value struct {
	from, to int
	list     bool // of strings alone
	items    []item
}

// An item is one string of a list.
type item struct {
	from, to int // of the string itself
	comma    int // of the comma behind it; -1 none
	text     string
}

// find returns where the keys of a table stand, behind its header up to the next one, and
// in it the value of one of them; nil is what is not there. The file's own keys stand
// before the first header.
func (d *doc) find(table []string, key string) (body, v *value) {
	var p unstable.Parser
	p.Reset([]byte(d.text))
	if len(table) == 0 {
		body = &value{to: len(d.text)}
	}
	for p.NextExpression() {
		n, names, end := p.Expression(), []string(nil), 0
		for k := n.Key(); k.Next(); {
			names, end = append(names, string(k.Node().Data)), int(k.Node().Raw.Offset+k.Node().Raw.Length)
		}
		switch {
		case n.Kind != unstable.KeyValue && body != nil:
			body.to = d.lineStart(end)
			return body, v
		case n.Kind == unstable.Table && slices.Equal(names, table):
			body = &value{from: d.lineEnd(end), to: len(d.text)}
		case body != nil && v == nil && slices.Equal(names, []string{key}):
			v = d.value(n, end)
		}
	}
	return body, v
}

// value is that of an entry whose key ends at end.
func (d *doc) value(n *unstable.Node, end int) *value {
	v := &value{to: int(n.Raw.Offset + n.Raw.Length), list: n.Value().Kind == unstable.Array}
	_, written, _ := strings.Cut(d.text[end:v.to], "=")
	v.from = v.to - len(strings.TrimLeft(written, " \t"))
	for it := n.Value().Children(); v.list && it.Next(); {
		from := int(it.Node().Raw.Offset)
		end := from + int(it.Node().Raw.Length)
		v.list, v.items = it.Node().Kind == unstable.String, append(v.items, item{from, end, d.comma(end), string(it.Node().Data)})
	}
	return v
}

// comma is the place of the comma behind an item that ends at at; -1 there is none.
func (d *doc) comma(at int) int {
	for d.text[at] != ',' {
		switch d.text[at] {
		case ']':
			return -1
		case '#':
			at = d.lineEnd(at)
		default:
			at++
		}
	}
	return at
}

// addLine puts a line at the end of a table, which is made where there is none.
func (d *doc) addLine(table []string, line string) {
	t, _ := d.find(table, "")
	if t == nil {
		d.text = strings.TrimRight(d.text, "\n")
		d.text += say.If(d.text != "", "\n\n")
		d.text += "[" + strings.Join(table, ".") + "]\n" + line + "\n"
		return
	}
	body := strings.TrimRight(d.text[t.from:t.to], " \t\r\n")
	at := t.from + len(body)
	if body == "" && (t.from == 0 || d.text[t.from-1] == '\n') {
		d.splice(at, at, line+"\n"+say.If(at == 0 && t.to < len(d.text), "\n"))
	} else {
		d.splice(at, at, "\n"+line)
	}
	d.text += say.If(!strings.HasSuffix(d.text, "\n"), "\n")
}

// addItem puts a string at the end of a list: on a line of its own where the last one has
// one.
func (d *doc) addItem(list *value, quoted string) {
	if len(list.items) == 0 {
		d.splice(list.from+1, list.from+1, quoted)
		return
	}
	last := list.items[len(list.items)-1]
	indent := d.text[d.lineStart(last.from):last.from]
	if strings.TrimSpace(indent) != "" { // the list stands in one line
		d.splice(last.to, last.to, ", "+quoted)
		return
	}
	end := d.lineEnd(last.to)
	if end >= list.to { // the bracket stands behind the last item
		d.splice(last.to, last.to, ",\n"+indent+quoted)
		return
	}
	d.splice(end, end, indent+quoted+",\n")
	if last.comma < 0 {
		d.splice(last.to, last.to, ",")
	}
}

// dropItem takes a string out of its list, with its line where it has one.
func (d *doc) dropItem(i item) {
	from, to := i.from, i.to
	if i.comma >= 0 {
		to = i.comma + 1
	}
	start, end := d.lineStart(from), d.lineEnd(to)
	after, _, _ := strings.Cut(d.text[to:end], "#")
	if strings.TrimSpace(d.text[start:from]) == "" && strings.TrimSpace(after) == "" {
		d.splice(start, end, "")
		return
	}
	to = len(d.text) - len(strings.TrimLeft(d.text[to:], " "))
	if i.comma < 0 { // the last of its line: the comma before it goes
		if before := strings.TrimRight(d.text[:from], " "); strings.HasSuffix(before, ",") {
			from = len(before) - 1
		}
	}
	d.splice(from, to, "")
}
