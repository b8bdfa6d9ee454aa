package matrix

import (
	"reflect"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
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
	readDrivers(r, rows, m)
	readPackages(r, rows, m)
	readBeside(r, rows, m)
	for f, list := range m.tables() { // the others, whose rows stand for themselves
		rows(keyOf(f.Name), func(o object) {
			row := reflect.New(f.Type.Elem()).Elem()
			r.fill(o, row)
			list.Set(reflect.Append(list, row))
		})
	}
	t.done()
	r.done(o)
	o.done()
}

type rowsFunc func(key string, f func(object))

// table reads the rows of a table into the fields of T; each makes what one row stands for.
func table[T any](r *rowReader, rows rowsFunc, key string, to *[]T, each func(object, T, func(T))) {
	rows(key, func(o object) {
		var row T
		r.fill(o, reflect.ValueOf(&row).Elem())
		each(o, row, func(x T) { *to = append(*to, x) })
	})
}

func readDrivers(r *rowReader, rows rowsFunc, m *Matrix) {
	table(r, rows, "components", &m.Components, func(o object, c Components, add func(Components)) {
		c.Pins = map[string]string{}
		for _, k := range coreLibraries[1:] {
			if v := o.dotted(k); !v.IsZero() {
				c.Pins[k] = v.String()
			}
		}
		add(c)
	})
	table(r, rows, "libraries", &m.Libraries, func(o object, l Library, add func(Library)) {
		for _, l.Version = range values(o, "versions", version.ParseDotted) {
			add(l)
		}
	})
	names := map[string]string{}
	rows("gfx_names", func(o object) { names[o.text("gfx")] = o.text("names") })
	table(r, rows, "rocm", &m.ROCm, func(o object, t ROCmTarget, add func(ROCmTarget)) {
		for _, t.GFX = range o.words("gfx") {
			t.Names = names[t.GFX]
			add(t)
		}
	})
}

func readPackages(r *rowReader, rows rowsFunc, m *Matrix) {
	table(r, rows, "conda", &m.Conda, func(o object, c CondaBuild, add func(CondaBuild)) {
		c.PythonMin, c.PythonMax = o.pythonRange()
		for _, c.Torch = range values(o, "torch", version.ParsePython) {
			add(c)
		}
	})
	table(r, rows, "extensions", &m.Extensions, func(o object, e Extension, add func(Extension)) {
		e.Python = o.specifier("python").String()
		platforms := platformsOf(o)
		for _, e.Version = range values(o, "versions", version.ParsePython) {
			for e.OS, e.Arch = range platforms {
				add(e)
			}
		}
	})
}

// fill reads a row into the fields of a struct, each under its name in small letters
// (MinSM is min_sm) or the one in its tag; a field of the tag "-" is read by other hands.
func (r *rowReader) fill(o object, row reflect.Value) {
	for i := range row.NumField() {
		f := row.Type().Field(i)
		key, how, _ := strings.Cut(f.Tag.Get("data"), ",")
		switch {
		case key == "-":
			continue
		case key != "":
		case keys[f.Name] != "":
			key = keys[f.Name]
		default:
			key = keyOf(f.Name)
		}
		r.field(o, row.Field(i).Addr().Interface(), f, key, how == "quoted")
	}
}

// keys are those of fields that every table calls otherwise.
var keys = map[string]string{"Note": "notes", "Native": "cubins", "MacOS": "macos", "CuDNN": "cudnn"}

var wordEnd = lazy.Regexp(`([a-z])([A-Z])`)

func keyOf(name string) string { return strings.ToLower(wordEnd().ReplaceAllString(name, "${1}_${2}")) }

// platformWords are what a system and its processor may be called.
var platformWords = map[string][]string{"OS": {"linux", "windows", "macos"}, "Arch": {"x86_64", "aarch64", "arm64"}}

// field reads one field by its type.
func (r *rowReader) field(o object, into any, f reflect.StructField, key string, quoted bool) {
	switch v := into.(type) {
	case *Proof:
		*v = r.proof(o)
	case *string:
		*v = r.word(o, f, key)
	case *map[string]string:
		*v = o.byName(key)
	case *[]string:
		if quoted {
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
	case *version.Python:
		*v = o.python(key)
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
func (r *rowReader) word(o object, f reflect.StructField, key string) string {
	of := strings.Fields(f.Tag.Get("one"))
	if words := platformWords[f.Name]; words != nil && len(of) == 0 {
		of = append(words, "-")
	}
	switch {
	case f.Name == "Source":
		at, _ := r.source(o)
		return at
	case len(of) == 0 || slices.Contains(of, "-") && !o.has(key):
		return o.text(key)
	}
	return o.one(key, slices.DeleteFunc(of, func(w string) bool { return w == "-" })...)
}
