package know

import (
	"errors"
	"fmt"
	"strings"

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

// places are the ways out by place: fix-windows and its like. nil: none says another.
func (r record) places() (out map[string][]string) {
	for _, place := range places {
		if ways := r.keys["fix-"+place]; len(ways) > 0 {
			if out == nil {
				out = map[string][]string{}
			}
			out[place] = ways
		}
	}
	return out
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
