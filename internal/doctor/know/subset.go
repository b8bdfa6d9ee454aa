package know

import (
	"fmt"
	"strings"
)

// A record is one item of a list in the data: key → values, in the order of the
// file. A scalar is one value.
type record struct {
	line int
	keys map[string][]string
}

func (r record) one(key string) string {
	if v := r.keys[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// parseRecords reads the small part of YAML in which messages.yaml, clues.yaml
// and checks.yaml are written: comments, "format: 1", one top-level key, and
// below it a list of flat mappings whose values are plain or single-quoted
// scalars or lists of them. A list in a list is a pattern of several alternatives
// and comes out as one value, joined by "|". It is here for speed: explain answers in a few
// milliseconds, of which a general reader would take fifty. A test holds it
// against a general YAML reader.
func parseRecords(text string) ([]record, error) {
	var out []record
	last := ""
	for n, l := range strings.Split(text, "\n") {
		n++
		trimmed := strings.TrimSpace(l)
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		switch {
		case strings.HasPrefix(l, "- "):
			out = append(out, record{line: n, keys: map[string][]string{}})
			l = "  " + l[2:]
		case l[0] != ' ':
			if k, v, ok := strings.Cut(l, ":"); !ok || k == "format" && strings.TrimSpace(v) != "1" {
				return nil, fmt.Errorf("line %d: %q is not understood", n, l)
			}
			continue
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("line %d: outside a list", n)
		}
		r := out[len(out)-1]
		if strings.HasPrefix(l, "  - ") || strings.HasPrefix(l, "    - ") {
			values, err := addItem(r.keys[last], l)
			if err != nil || last == "" {
				return nil, fmt.Errorf("line %d: %q is not an item of a list", n, l)
			}
			r.keys[last] = values
			continue
		}
		k, v, ok := strings.Cut(strings.TrimPrefix(l, "  "), ":")
		if !ok || strings.HasPrefix(k, " ") {
			return nil, fmt.Errorf("line %d: %q is not a key and a value", n, l)
		}
		if _, twice := r.keys[k]; twice {
			return nil, fmt.Errorf("line %d: %s twice", n, k)
		}
		values, err := valuesOf(strings.TrimSpace(v))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		r.keys[k], last = values, k
	}
	return out, nil
}

// addItem adds what a line of a list in block style says: an item ("  - x"), the
// first alternative of one ("  - - x"), or another of the last ("    - x").
func addItem(values []string, line string) ([]string, error) {
	item, more := strings.CutPrefix(line, "    - ")
	if !more {
		item = strings.TrimPrefix(strings.TrimPrefix(line, "  - "), "- ")
	}
	v, rest, err := scalar(item)
	switch {
	case err != nil:
		return nil, err
	case rest != "", more && len(values) == 0:
		return nil, fmt.Errorf("%q is not an item", line)
	case more:
		values[len(values)-1] += "|" + v
		return values, nil
	}
	return append(values, v), nil
}

// valuesOf reads a scalar or a list in brackets.
func valuesOf(v string) ([]string, error) {
	if v == "" {
		return nil, nil
	}
	if v[0] != '[' {
		s, rest, err := scalar(v)
		if err == nil && rest != "" {
			err = fmt.Errorf("%q after the value", rest)
		}
		return []string{s}, err
	}
	var out []string
	for v = strings.TrimSpace(v[1:]); ; {
		s, rest, err := scalar(v)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
		switch rest = strings.TrimSpace(rest); {
		case rest == "]":
			return out, nil
		case strings.HasPrefix(rest, ","):
			v = strings.TrimSpace(rest[1:])
		default:
			return nil, fmt.Errorf("%q is not a list", v)
		}
	}
}

// scalar reads one value and returns what follows it. A plain value ends at a
// comma or bracket only within a list, which starts it with neither.
func scalar(v string) (value, rest string, err error) {
	if !strings.HasPrefix(v, "'") {
		end := len(v)
		if i := strings.IndexAny(v, ",]"); i >= 0 && !strings.ContainsAny(v[:i], " :/") {
			end = i
		}
		return strings.TrimSpace(v[:end]), v[end:], nil
	}
	var b strings.Builder
	for i := 1; i < len(v); i++ {
		if v[i] != '\'' {
			b.WriteByte(v[i])
			continue
		}
		if i+1 < len(v) && v[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		return b.String(), v[i+1:], nil
	}
	return "", "", fmt.Errorf("%q has no closing quote", v)
}
