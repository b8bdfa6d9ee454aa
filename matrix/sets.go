package matrix

import (
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"envfix/internal/text"
)

// Sets are the inheritance of the data files: a set names a few keys, a row says
// `use: name name`, later sets win over earlier ones and the row over all. A set
// may use sets. They replace YAML's anchors, which can be neither checked nor
// bounded.
type sets struct {
	s    *source
	raw  map[string]*yaml.Node
	flat map[string]map[string]*yaml.Node
	open map[string]bool // being flattened: to find cycles
	used map[string]bool
}

func (o object) sets() *sets {
	t := &sets{s: o.s, raw: map[string]*yaml.Node{}, flat: map[string]map[string]*yaml.Node{}, open: map[string]bool{}, used: map[string]bool{}}
	m := o.mapping("sets")
	for _, k := range m.keys {
		t.raw[k] = m.take(k)
	}
	return t
}

// maxKeys bounds a flattened set; a row of ours has about twenty keys.
const maxKeys = 64

// row returns the object of a row with its sets merged in.
func (t *sets) row(o object) object {
	names, line := o.scalar("use", false)
	merged := map[string]*yaml.Node{}
	t.merge(merged, names, line)
	maps.Copy(merged, o.at)
	return object{s: o.s, line: o.line, keys: slices.Collect(maps.Keys(merged)), at: merged}
}

func (t *sets) merge(into map[string]*yaml.Node, names string, line int) {
	for _, name := range strings.Fields(names) {
		t.used[name] = true
		maps.Copy(into, t.one(name, line))
		if len(into) > maxKeys {
			t.s.fault(line, "more than %d keys after merging sets", maxKeys)
			return
		}
	}
}

func (t *sets) one(name string, line int) map[string]*yaml.Node {
	if f, ok := t.flat[name]; ok {
		return f
	}
	n := t.raw[name]
	if n == nil {
		t.s.fault(line, "no set is named %q", text.Cut(name, 60))
		t.flat[name] = nil
		return nil
	}
	if t.open[name] {
		t.s.fault(n.Line, "set %q uses itself", text.Cut(name, 60))
		return nil
	}
	t.open[name] = true
	o := t.s.object(n)
	names, at := o.scalar("use", false)
	flat := map[string]*yaml.Node{}
	t.merge(flat, names, at)
	maps.Copy(flat, o.at)
	delete(t.open, name)
	t.flat[name] = flat
	return flat
}

// done reports the sets that no row uses.
func (t *sets) done() {
	for name, n := range t.raw {
		if !t.used[name] {
			t.s.fault(n.Line, "set %q is used by no row", text.Cut(name, 60))
		}
	}
}
