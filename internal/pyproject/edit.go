package pyproject

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"envfix/internal/say"
	"envfix/internal/text"
)

// An Edit changes one key of a TOML file and leaves every other byte as it was
// written: comments, order, quotes. Each of its functions reads the result again
// and refuses it unless exactly the meant change happened; then the error says what
// to write by hand.
type Edit struct {
	Text  []byte
	Name  string   // of the file, for errors
	Table []string // that the keys stand in: nil the file's own, or {"tool", "envfix"}
}

// Set gives key the string value; the table is made where there is none.
func (e *Edit) Set(key, value string) error { return e.SetRaw(key, text.JSON(value)) }

// SetTrue gives key the value true.
func (e *Edit) SetTrue(key string) error { return e.SetRaw(key, text.Const("true")) }

// SetRaw gives key a value that is written as TOML: a list, an inline table.
func (e *Edit) SetRaw(key string, value text.Quoted) error {
	var v map[string]any
	raw := value.String()
	if err := toml.Unmarshal([]byte("V = "+raw), &v); err != nil {
		return fmt.Errorf("%s: %q: %w", key, raw, err)
	}
	line := quoteKey(key) + " = " + raw
	return e.change(line, func(t map[string]any) { t[key] = v["V"] }, func(d *doc) bool {
		if _, v := d.find(e.Table, key); v != nil {
			d.splice(v.from, v.to, raw)
		} else {
			d.addLine(e.Table, line)
		}
		return true
	})
}

// Strings returns the list of strings at key; it is empty where there is none.
func (e *Edit) Strings(key string) []string {
	t := map[string]any{}
	if unmarshal(e.Text, &t) != nil {
		return nil
	}
	for _, name := range e.Table {
		t, _ = t[name].(map[string]any)
	}
	return text.Each(anyList(t[key]), str)
}

// Index puts an index at the end of the file that only packages come from which name
// it, unless one of that name is there.
func (e *Edit) Index(name, url string) error {
	return e.index("uv", "index", "explicit = true", name, url)
}

// index is Index for a list of indexes of [tool.TOOL], of which mark says that one is for
// those packages alone.
func (e *Edit) index(tool, list, mark, name, url string) error {
	var d struct {
		Tool map[string]map[string]any `toml:"tool"`
	}
	if err := unmarshal(e.Text, &d); err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	for _, v := range anyList(d.Tool[tool][list]) {
		switch i := table(v); {
		case i["name"] == name && i["url"] == url:
			return nil
		case i["name"] == name:
			return fmt.Errorf("%s has an index %s at %s", e.Name, name, str(i["url"]))
		}
	}
	block := fmt.Sprintf("[[tool.%s.%s]]\nname = %s\nurl = %s\n%s\n", tool, list, text.JSON(name), text.JSON(url), mark)
	out := slices.Concat(bytes.TrimRight(e.Text, "\n"), []byte("\n\n"+block))
	if _, err := ReadProject(out, e.Name); err != nil {
		return fmt.Errorf("%s writes its indexes in a form that is not edited; add by hand: %s", e.Name, block)
	}
	e.Text = out
	return nil
}

// Remove takes key out.
func (e *Edit) Remove(key string) error {
	return e.change("no "+key, func(t map[string]any) { delete(t, key) }, func(d *doc) bool {
		_, v := d.find(e.Table, key)
		if v != nil {
			d.splice(d.lineStart(v.from), d.lineEnd(v.to), "")
		}
		return v != nil
	})
}

// Add puts item at the end of the list of strings at key, which is made where there
// is none.
func (e *Edit) Add(key, item string) error {
	line := fmt.Sprintf("%s = [%s]", quoteKey(key), text.JSON(item).String())
	return e.change(line, func(t map[string]any) { t[key] = append(slices.Clone(anyList(t[key])), any(item)) }, func(d *doc) bool {
		_, v := d.find(e.Table, key)
		switch {
		case v == nil:
			d.addLine(e.Table, line)
		case v.list:
			d.addItem(v, text.JSON(item).String())
		}
		return v == nil || v.list
	})
}

// Drop takes item out of the list of strings at key.
func (e *Edit) Drop(key, item string) error {
	meant := func(t map[string]any) {
		t[key] = slices.DeleteFunc(slices.Clone(anyList(t[key])), func(v any) bool { return v == any(item) })
	}
	return e.change(key+" without "+item, meant, func(d *doc) bool {
		_, v := d.find(e.Table, key)
		if v == nil || !v.list {
			return false
		}
		for _, i := range slices.Backward(v.items) {
			if i.text == item {
				d.dropItem(i)
			}
		}
		return true
	})
}

// Dependencies returns the project's own dependencies as they are written.
func Dependencies(text []byte) ([]string, error) {
	var d document
	err := unmarshal(text, &d)
	return d.Project.Dependencies, err
}

func anyList(v any) []any { l, _ := v.([]any); return l }

// change applies do to the text and holds the result to what meant does to the
// decoded table.
func (e *Edit) change(byHand string, meant func(map[string]any), do func(*doc) bool) error {
	refused := fmt.Errorf("%s is written in a form that is not edited; write by hand, in %s: %s", e.Name, e.place(), byHand)
	want := map[string]any{}
	if err := unmarshal(e.Text, &want); err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	t := want
	for _, name := range e.Table {
		inner, ok := t[name].(map[string]any)
		if !ok && t[name] != nil {
			return refused
		}
		if inner == nil {
			inner = map[string]any{}
			t[name] = inner
		}
		t = inner
	}
	meant(t)
	d := &doc{text: string(e.Text)}
	if !do(d) {
		return refused
	}
	got := map[string]any{}
	if err := toml.Unmarshal([]byte(d.text), &got); err != nil || !reflect.DeepEqual(normal(got), normal(want)) {
		return refused
	}
	e.Text = []byte(d.text)
	return nil
}

// normal drops empty tables: a header without keys says nothing.
func normal(m map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		if inner, ok := v.(map[string]any); ok {
			if inner = normal(inner); len(inner) == 0 {
				continue
			}
			v = inner
		}
		out[k] = v
	}
	return out
}

func (e *Edit) place() string {
	return say.Either(len(e.Table) == 0, "the first lines", "["+strings.Join(e.Table, ".")+"]")
}

func quoteKey(k string) string {
	if k != "" && strings.Trim(k, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
		return k
	}
	return text.JSON(k).String()
}
