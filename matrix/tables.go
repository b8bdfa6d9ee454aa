package matrix

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/version"
)

// readTables reads a data file that is not a release's: any of the tables below
// in any file, so that data can be split as its readers like.
func readTables(s *source, data []byte, m *Matrix) {
	o, names, ok := s.open(data)
	if !ok {
		return
	}
	r := &rowReader{s: s, names: names, all: m.shared, used: map[string]bool{}}
	r.known = o.knownBy()
	t := o.sets()
	rows := func(key string, f func(object)) {
		o.list(key, func(row object) {
			row = t.row(row)
			f(row)
			row.done()
		})
	}
	gfx := map[string]string{}
	rows("gfx_names", func(o object) { gfx[o.text("gfx")] = o.text("names") })
	for f, list := range m.tables() {
		rows(keyOf(f.Name), func(o object) { list.Set(reflect.Append(list, r.rows(o, f.Type.Elem())...)) })
	}
	for i, t := range m.ROCm {
		m.ROCm[i].Names = cmp.Or(t.Names, gfx[t.GFX])
	}
	t.done()
	r.done(o)
	o.done()
}

// rows are what a row of the data stands for: one for every value of each of its fields
// with the tag "each", under the key that the tag names, and for every platform of "on". A
// field with the tag "of" counts on that processor alone.
func (r *rowReader) rows(o object, t reflect.Type) []reflect.Value {
	row := reflect.New(t).Elem()
	r.fill(o, row)
	rows := []reflect.Value{row}
	for i := range t.NumField() {
		f := t.Field(i)
		if key := f.Tag.Get("each"); o.has(key) {
			list := reflect.New(reflect.SliceOf(f.Type))
			r.field(o, list.Interface(), f, key, "")
			rows = spread(rows, i, list.Elem())
		}
		for _, row := range rows {
			if of := f.Tag.Get("of"); of != "" && row.FieldByName("Arch").String() != of {
				row.Field(i).SetZero()
			}
		}
	}
	return rows
}

// spread copies each row for each value of a field; that of a system has its processor's too.
func spread(rows []reflect.Value, field int, values reflect.Value) (out []reflect.Value) {
	for _, row := range rows {
		for _, v := range values.Seq2() {
			one := reflect.New(row.Type()).Elem()
			one.Set(row)
			one.Field(field).Set(v)
			if os, arch, ok := strings.Cut(v.String(), "-"); ok && row.Type().Field(field).Name == "OS" {
				one.Field(field).SetString(os)
				one.FieldByName("Arch").SetString(arch)
			}
			out = append(out, one)
		}
	}
	return out
}

// fill reads a row into the fields of a struct, each under its name in small letters
// (MinSM is min_sm) or the one in its tag; a field of the tag "-" is read by other hands,
// and one of the tag "each" by rows.
func (r *rowReader) fill(o object, row reflect.Value) {
	for i := range row.NumField() {
		f := row.Type().Field(i)
		key, how, _ := strings.Cut(f.Tag.Get("data"), ",")
		switch {
		case key == "-" || f.Tag.Get("each") != "":
			continue
		case f.Name == "PythonMin":
			low, high := row.Field(i).Addr(), row.FieldByName("PythonMax").Addr()
			*low.Interface().(*version.Python), *high.Interface().(*version.Python) = o.pythonRange()
			continue
		case key != "":
		case keys[f.Name] != "":
			key = keys[f.Name]
		default:
			key = keyOf(f.Name)
		}
		r.field(o, row.Field(i).Addr().Interface(), f, key, how)
	}
}

// keys are those of fields that every table calls otherwise.
var keys = map[string]string{"Note": "notes", "Native": "cubins", "MacOS": "macos", "CuDNN": "cudnn"}

var wordEnd = lazy.Regexp(`([a-z])([A-Z])`)

func keyOf(name string) string { return strings.ToLower(wordEnd().ReplaceAllString(name, "${1}_${2}")) }

// platformWords are what a system and its processor may be called.
var platformWords = map[string][]string{"OS": {"linux", "windows", "macos"}, "Arch": {"x86_64", "aarch64", "arm64"}}

// field reads one field by its type.
func (r *rowReader) field(o object, into any, f reflect.StructField, key, how string) {
	switch v := into.(type) {
	case *Proof:
		*v = r.proof(o)
	case *string:
		*v = r.word(o, f, key, how)
	case *map[string]string:
		if *v = o.byName(key); f.Tag.Get("keys") != "" {
			*v = named(object{o.s, o.line, strings.Fields(f.Tag.Get("keys")), o.at}, version.ParseDotted)
		}
	case *[]string:
		if how == "quoted" {
			*v = o.versions(key)
		} else {
			*v = o.words(key)
		}
	case *int:
		*v = o.number(key)
	case *[]int:
		*v = values(o, key, parseNumber)
	case *bool:
		*v = o.yes(key)
	case *version.Dotted:
		*v = o.dotted(key)
	case *[]version.Dotted:
		*v = values(o, key, version.ParseDotted)
	case *version.Python:
		*v = o.python(key)
	case *[]version.Python:
		*v = values(o, key, version.ParsePython)
	case *version.Specifier:
		*v = o.specifier(key)
	case *machine.SM:
		*v = value(o, key, true, parseSM)
	case *[]machine.SM:
		*v = values(o, key, parseSM)
	case *[]Code:
		*v = values(o, key, parseCode)
	}
}

// word reads a text: any, or one of those that are admitted.
func (r *rowReader) word(o object, f reflect.StructField, key, how string) string {
	of := strings.Fields(f.Tag.Get("one"))
	if words := platformWords[f.Name]; words != nil && len(of) == 0 {
		of = append(words, "-")
	}
	switch {
	case f.Name == "Source":
		at, _ := r.source(o)
		return at
	case how == "specifier":
		return o.specifier(key).String()
	case how == "versions":
		versions := values(o, key, version.ParsePython)
		return strings.Join(text.Each(versions, version.Python.String), " ")
	case len(of) == 0 || slices.Contains(of, "-") && !o.has(key):
		return o.text(key)
	}
	return o.one(key, slices.DeleteFunc(of, func(w string) bool { return w == "-" })...)
}
