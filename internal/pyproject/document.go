package pyproject

import (
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"

	"github.com/pelletier/go-toml/v2"
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

// table returns where the keys of a table stand: behind its header, up to the next
// one. The file's own keys stand before the first header.
func (d *doc) table(name []string) (from, to int, ok bool) {
	want := "[" + strings.Join(name, ".") + "]"
	ok = len(name) == 0
	for at := 0; at < len(d.text); {
		end := d.lineEnd(at)
		h := header(d.text[at:end])
		switch {
		case h != "" && ok:
			return from, at, true
		case h != "" && h == want && len(name) > 0:
			from, ok = end, true
		}
		at = d.skip(at, end)
	}
	return from, len(d.text), ok
}

// skip is the beginning of the line after the entry at, whose value may run over
// several lines.
func (d *doc) skip(at, end int) int {
	line := d.text[at:end]
	if eq := strings.IndexByte(line, '='); eq >= 0 && !strings.HasPrefix(strings.TrimSpace(line), "#") {
		if to, ok := d.valueEnd(at + eq + 1); ok {
			return d.lineEnd(to)
		}
	}
	return end
}

// value returns where the value of a key stands.
func (d *doc) value(table []string, key string) (from, to int, ok bool) {
	at, last, ok := d.table(table)
	if !ok {
		return 0, 0, false
	}
	for at < last {
		end := d.lineEnd(at)
		k, _, found := strings.Cut(d.text[at:end], "=")
		if found && strings.Trim(strings.TrimSpace(k), `"'`) == key {
			from = at + len(k) + 1
			from = len(d.text) - len(strings.TrimLeft(d.text[from:], " \t"))
			to, ok = d.valueEnd(from)
			return from, to, ok
		}
		at = d.skip(at, end)
	}
	return 0, 0, false
}

// valueEnd is the end of the value that begins at or behind at.
func (d *doc) valueEnd(at int) (int, bool) {
	depth, begun := 0, false
	for at < len(d.text) {
		switch d.text[at] {
		case '"', '\'':
			at, begun = d.stringEnd(at), true
		case '[', '{':
			at, depth, begun = at+1, depth+1, true
		case ']', '}':
			at, depth = at+1, depth-1
		case '\n', '\r', '#':
			if depth == 0 {
				return at, begun
			}
			at = d.lineEnd(at)
		case ' ', '\t', ',':
			at++
		default:
			rest := d.text[at:]
			if i := strings.IndexAny(rest, " \t\r\n,]}#"); i >= 0 {
				rest = rest[:i]
			}
			at, begun = at+len(rest), true
		}
		if depth == 0 && begun {
			return at, true
		}
	}
	return at, begun && depth == 0
}

// stringEnd is the end of the string that begins at at.
func (d *doc) stringEnd(at int) int { return at + text.StringEnd([]byte(d.text[at:])) }

// addLine puts a line at the end of a table, which is made where there is none.
func (d *doc) addLine(table []string, line string) {
	from, to, ok := d.table(table)
	if !ok {
		d.text = strings.TrimRight(d.text, "\n")
		d.text += say.If(d.text != "", "\n\n")
		d.text += "[" + strings.Join(table, ".") + "]\n" + line + "\n"
		return
	}
	body := strings.TrimRight(d.text[from:to], " \t\r\n")
	at := from + len(body)
	if body == "" && (from == 0 || d.text[from-1] == '\n') {
		d.splice(from, from, line+"\n"+say.If(from == 0 && to < len(d.text), "\n"))
	} else {
		d.splice(at, at, "\n"+line)
	}
	d.text += say.If(!strings.HasSuffix(d.text, "\n"), "\n")
}

// An item is one string of a list.
type item struct {
	from, to int // of the string itself
	comma    int // of the comma behind it; -1 none
	text     string
}

// items returns the strings of the list between from and to; ok is false where it
// holds anything else.
func (d *doc) items(from, to int) (out []item, ok bool) {
	if from >= to || d.text[from] != '[' || d.text[to-1] != ']' {
		return nil, false
	}
	for at := from + 1; at < to-1; {
		switch c := d.text[at]; {
		case c == '#':
			at = d.lineEnd(at)
		case c == ',' && len(out) > 0:
			out[len(out)-1].comma = at
			at++
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			at++
		case c == '"' || c == '\'':
			end := d.stringEnd(at)
			var v struct{ V string }
			if toml.Unmarshal([]byte("V = "+d.text[at:end]), &v) != nil {
				return nil, false
			}
			out = append(out, item{at, end, -1, v.V})
			at = end
		default:
			return nil, false
		}
	}
	return out, true
}

// addItem puts a string at the end of the list between from and to: on a line of its
// own where the last one has one.
func (d *doc) addItem(from, to int, items []item, quoted string) {
	if len(items) == 0 {
		d.splice(from+1, from+1, quoted)
		return
	}
	last := items[len(items)-1]
	indent := d.text[d.lineStart(last.from):last.from]
	if strings.TrimSpace(indent) != "" { // the list stands in one line
		d.splice(last.to, last.to, ", "+quoted)
		return
	}
	end := d.lineEnd(last.to)
	if end >= to { // the bracket stands behind the last item
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

// header returns a table header without comment and blanks, "" for other lines.
// A line of a list of lists does not begin with a bracket in the forms that are
// edited here; Edit finds out if one did.
func header(l string) string {
	t := strings.TrimSpace(l)
	if !strings.HasPrefix(t, "[") {
		return ""
	}
	t, _, _ = strings.Cut(t, "#")
	t = strings.ReplaceAll(strings.TrimSpace(t), " ", "")
	return say.If(strings.HasSuffix(t, "]") && !strings.ContainsAny(t, `"'{,=`), t)
}
