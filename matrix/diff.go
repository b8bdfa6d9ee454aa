package matrix

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sort"
	"strings"

	"envfix/internal/text"
)

// A Change is one difference between two matrices: a row that came or went, or a
// field of a row.
type Change struct {
	Table string `json:"table"`           // Builds, Floors …
	Row   string `json:"row"`             // "torch 2.9.1 cu126 linux x86_64"
	Field string `json:"field,omitempty"` // "" the whole row
	Old   string `json:"old"`
	New   string `json:"new"`
}

// String returns the change as one line.
func (c Change) String() string {
	switch {
	case c.Field == "" && c.Old == "":
		return c.Row + ": new"
	case c.Field == "":
		return c.Row + ": gone"
	}
	return fmt.Sprintf("%s: %s: %s → %s", c.Row, c.Field, cmp.Or(c.Old, "none"), cmp.Or(c.New, "none"))
}

// tables yields the tables of a matrix beside its releases.
func (m *Matrix) tables() iter.Seq2[reflect.StructField, reflect.Value] {
	return func(yield func(reflect.StructField, reflect.Value) bool) {
		v := reflect.ValueOf(m).Elem()
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.IsExported() && f.Type.Kind() == reflect.Slice && f.Name != "Releases" && !yield(f, v.Field(i)) {
				return
			}
		}
	}
}

// told is how a row of a table is called, and the fields that tell its rows apart: "driver floor:
// Label". A table without such a tag has rows that only come and go.
func told(table reflect.StructField) (name string, fields []string) {
	name, list, _ := strings.Cut(table.Tag.Get("row"), ": ")
	return name, strings.Fields(list)
}

// untold are fields that say where a row stands or comes from, not what it says.
var untold = []string{"Source", "Release", "Builds"}

// Diff returns what differs between two matrices, table by table, in the order of
// their rows. Where a row says it (Source) does not count; how it is known does.
func Diff(old, new *Matrix) []Change {
	d := &differ{}
	d.rows("Releases", releaseRows(old), releaseRows(new))
	d.rows("Builds", buildRows(old), buildRows(new))
	tables := map[string][]diffRow{}
	for table, list := range old.tables() {
		tables[table.Name] = tableRows(table, list)
	}
	for table, list := range new.tables() {
		d.rows(table.Name, tables[table.Name], tableRows(table, list))
	}
	return d.changes
}

// A diffRow is a row by its key, its fields as text.
type diffRow struct {
	key    string
	fields []struct{ name, text string }
}

func releaseRows(m *Matrix) []diffRow {
	return text.Each(m.Releases, func(r *Release) diffRow {
		return diffRow{"torch " + r.Torch.String(), fieldTexts(reflect.ValueOf(*r), nil)}
	})
}

func buildRows(m *Matrix) []diffRow {
	var rows []diffRow
	for _, r := range m.Releases {
		for _, b := range r.Builds {
			key := strings.Join([]string{"torch", r.Torch.String(), b.Label, b.OS, b.Arch}, " ")
			rows = append(rows, diffRow{key, fieldTexts(reflect.ValueOf(*b), []string{"Label", "OS", "Arch"})})
		}
	}
	return rows
}

func tableRows(table reflect.StructField, list reflect.Value) []diffRow {
	var rows []diffRow
	name, keys := told(table)
	for i := range list.Len() {
		v := list.Index(i)
		words := []string{name}
		for _, f := range keys {
			if text := valueText(v.FieldByName(f)); text != "" && text != "false" {
				words = append(words, text)
			}
		}
		all := fieldTexts(v, keys)
		if name == "" {
			words, all = []string{strings.ToLower(strings.TrimSuffix(table.Name, "s"))}, nil
			for _, f := range fieldTexts(v, nil) {
				words = append(words, f.text)
			}
		}
		rows = append(rows, diffRow{strings.Join(words, " "), all})
	}
	return rows
}

type differ struct{ changes []Change }

// rows compares two tables. Rows of one key are compared in their order.
func (d *differ) rows(table string, old, new []diffRow) {
	before := map[string][]diffRow{}
	for _, r := range old {
		before[r.key] = append(before[r.key], r)
	}
	for _, r := range new {
		if len(before[r.key]) == 0 {
			d.changes = append(d.changes, Change{Table: table, Row: r.key, New: r.key})
			continue
		}
		was := before[r.key][0]
		before[r.key] = before[r.key][1:]
		for i, f := range r.fields {
			if was.fields[i].text != f.text {
				d.changes = append(d.changes, Change{table, r.key, f.name, was.fields[i].text, f.text})
			}
		}
	}
	for _, r := range old {
		if left := before[r.key]; len(left) > 0 {
			before[r.key] = left[1:]
			d.changes = append(d.changes, Change{Table: table, Row: r.key, Old: r.key})
		}
	}
}

func fieldTexts(v reflect.Value, except []string) []struct{ name, text string } {
	var out []struct{ name, text string }
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || slices.Contains(except, f.Name) || slices.Contains(untold, f.Name) {
			continue
		}
		out = append(out, struct{ name, text string }{strings.ToLower(f.Name), valueText(v.Field(i))})
	}
	return out
}

// valueText writes a value as a person would.
func valueText(v reflect.Value) string {
	if s, ok := v.Interface().(fmt.Stringer); ok {
		return s.String()
	}
	switch v.Kind() {
	case reflect.Slice:
		var words []string
		for i := range v.Len() {
			words = append(words, valueText(v.Index(i)))
		}
		return strings.Join(words, " ")
	case reflect.Map:
		var words []string
		for _, k := range v.MapKeys() {
			words = append(words, k.String()+" "+cmp.Or(valueText(v.MapIndex(k)), "none"))
		}
		sort.Strings(words)
		return strings.Join(words, ", ")
	case reflect.Int:
		if v.Int() == 0 {
			return ""
		}
	}
	return strings.TrimSpace(fmt.Sprint(v.Interface()))
}
