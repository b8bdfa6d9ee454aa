package know

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/version"
	"envfix/internal/xslices"

	"gopkg.in/yaml.v3"
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

// places are where a way out may be another than on Linux.
var places = []string{"windows", "macos", "wsl", "container"}

// words are a list that is written as one text.
type words []string

// fill sets the fields of a struct from the keys of their names, in small letters, or of
// their tags. A key that names no field is refused, but for those that the caller reads itself.
func (r record) fill(x any, own ...string) error {
	v := reflect.ValueOf(x).Elem()
	for key, values := range r.keys {
		name := key
		place, of := strings.CutPrefix(key, "fix-")
		if of && slices.Contains(places, place) {
			name = "fix-"
		}
		field, known := xslices.Find(reflect.VisibleFields(v.Type()), func(f reflect.StructField) bool {
			return f.IsExported() && cmp.Or(f.Tag.Get("key"), strings.ToLower(f.Name)) == name
		})
		if !known {
			if slices.Contains(own, key) {
				continue
			}
			return fmt.Errorf("unknown key %s", key)
		}
		if err := set(v.FieldByIndex(field.Index).Addr().Interface(), place, values); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// set reads the values of a key into what a field is. A list where there is one text is of
// alternatives.
func set(field any, place string, values []string) (err error) {
	one := strings.Join(values, "|")
	switch f := field.(type) {
	case *string:
		*f = one
	case *[]string:
		*f = values
	case *words:
		*f = strings.Fields(one)
	case *bool:
		*f = one == "true"
	case *int:
		if *f, _ = strconv.Atoi(one); *f <= 0 {
			return errors.New("no number")
		}
	case *Severity:
		if !f.Parse(one) {
			return fmt.Errorf("%q is no severity", one)
		}
	case **Severity:
		*f = new(Severity)
		return set(*f, place, values)
	case *version.Python:
		*f, err = version.ParsePython(one)
	case *[]Saying:
		*f, err = sayingsOf(values)
	case *[][]*Term:
		*f, err = termsOf(values)
	case *map[string][]string:
		if *f == nil {
			*f = map[string][]string{}
		}
		(*f)[place] = values
	}
	return err
}

// parseRecords reads one of our files: "format: 1" and one list of flat mappings,
// whose values are scalars or lists of them. A list in a list is a pattern of
// several alternatives and comes out as one value, joined by "|".
func parseRecords(text string) ([]record, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("line 1: not a file of the doctor's")
	}
	root := doc.Content[0].Content
	if len(root) != 4 || root[0].Value != "format" || root[1].Value != "1" || root[3].Kind != yaml.SequenceNode {
		return nil, errors.New("line 1: not of format 1 with one list")
	}
	var out []record
	for _, item := range root[3].Content {
		r, err := recordOf(item)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func recordOf(item *yaml.Node) (record, error) {
	r := record{line: item.Line, keys: map[string][]string{}}
	if item.Kind != yaml.MappingNode {
		return r, fmt.Errorf("line %d: not a mapping", item.Line)
	}
	for i := 0; i+1 < len(item.Content); i += 2 {
		key, value := item.Content[i], item.Content[i+1]
		if _, twice := r.keys[key.Value]; twice {
			return r, fmt.Errorf("line %d: %s twice", key.Line, key.Value)
		}
		values, err := valuesOf(value, 0)
		if err != nil {
			return r, err
		}
		r.keys[key.Value] = values
	}
	return r, nil
}

// valuesOf returns a scalar, or a list of scalars and of lists of alternatives.
func valuesOf(n *yaml.Node, depth int) ([]string, error) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Anchor == "" && n.Tag != "!!null":
		return []string{n.Value}, nil
	case n.Kind == yaml.SequenceNode && n.Anchor == "" && depth < 2:
		var out []string
		for _, c := range n.Content {
			v, err := valuesOf(c, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, strings.Join(v, "|"))
		}
		return out, nil
	}
	return nil, fmt.Errorf("line %d: neither text nor a list of texts", n.Line)
}
