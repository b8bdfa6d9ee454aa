package matrix

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"

	"envfix/internal/version"
)

// The compiled form of a matrix is what [Embedded] reads: YAML costs 30 ms, this
// a tenth. It is made from the YAML files by `go generate ./data` and carries
// their hash, so a stale one is noticed and the YAML is read instead.
//
//	"envfix matrix\n", a number for the layout of the types, the SHA256 of the
//	files, every distinct string once, then the fields in order.

const compiledMagic = "envfix matrix\n"

// Compile returns the compiled form of a matrix.
func Compile(m *Matrix) ([]byte, error) {
	sum, err := hex.DecodeString(m.SHA256)
	if err != nil || len(sum) != 32 {
		return nil, errors.New("a matrix that was not loaded from files cannot be compiled")
	}
	e := encoder{ids: map[string]uint64{"": 0}, texts: []string{""}}
	e.value(reflect.ValueOf(*m))
	out := []byte(compiledMagic)
	out = binary.LittleEndian.AppendUint64(out, layout())
	out = append(out, sum...)
	out = binary.AppendUvarint(out, uint64(len(e.texts)))
	for _, t := range e.texts {
		out = binary.AppendUvarint(out, uint64(len(t)))
	}
	for _, t := range e.texts {
		out = append(out, t...)
	}
	return append(out, e.out...), nil
}

// decompile reads a compiled matrix of these files; nil: it is of others, or of
// another program.
func decompile(compiled []byte, sha256 string) *Matrix {
	sum, _ := hex.DecodeString(sha256)
	head := binary.LittleEndian.AppendUint64([]byte(compiledMagic), layout())
	rest, ok := bytes.CutPrefix(compiled, append(head, sum...))
	if !ok {
		return nil
	}
	d := decoder{in: rest, fields: map[reflect.Type][]int{}}
	d.strings()
	m := &Matrix{}
	d.value(reflect.ValueOf(m).Elem())
	if d.bad || len(d.in) > 0 {
		return nil
	}
	for _, r := range m.Releases {
		for _, b := range r.Builds {
			b.Release = r
		}
	}
	m.index = newIndex(m)
	return m
}

var (
	dottedType    = reflect.TypeFor[version.Dotted]()
	pythonType    = reflect.TypeFor[version.Python]()
	specifierType = reflect.TypeFor[version.Specifier]()
	releaseType   = reflect.TypeFor[*Release]()
)

// fields calls f with the fields that are compiled: the exported ones, without
// the way back from a build to its release.
func fields(t reflect.Type, f func(i int)) {
	for i := range t.NumField() {
		if s := t.Field(i); s.IsExported() && (s.Type != releaseType || t == releaseType.Elem()) {
			f(i)
		}
	}
}

// layout is a number for the names and types of all fields: data compiled by
// another version of the program is not read.
func layout() uint64 {
	h := fnv.New64a()
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		fmt.Fprint(h, t.String(), t.Kind(), ";")
		if seen[t] || t == dottedType || t == pythonType || t == specifierType {
			return
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Struct:
			fields(t, func(i int) { fmt.Fprint(h, t.Field(i).Name, ":"); walk(t.Field(i).Type) })
		case reflect.Slice, reflect.Pointer:
			walk(t.Elem())
		case reflect.Map:
			walk(t.Key())
			walk(t.Elem())
		}
	}
	walk(reflect.TypeFor[Matrix]())
	return h.Sum64()
}

type encoder struct {
	out   []byte
	ids   map[string]uint64
	texts []string
}

func (e *encoder) uint(n uint64) { e.out = binary.AppendUvarint(e.out, n) }

func (e *encoder) text(s string) {
	id, ok := e.ids[s]
	if !ok {
		id = uint64(len(e.texts))
		e.ids[s] = id
		e.texts = append(e.texts, s)
	}
	e.uint(id)
}

func (e *encoder) value(v reflect.Value) {
	switch v.Type() {
	case dottedType, pythonType, specifierType:
		e.text(v.Interface().(fmt.Stringer).String())
		return
	}
	switch v.Kind() {
	case reflect.String:
		e.text(v.String())
	case reflect.Bool:
		if v.Bool() {
			e.uint(1)
		} else {
			e.uint(0)
		}
	case reflect.Int:
		e.uint(uint64(v.Int()))
	case reflect.Struct:
		fields(v.Type(), func(i int) { e.value(v.Field(i)) })
	case reflect.Pointer:
		e.value(v.Elem())
	case reflect.Slice:
		e.uint(uint64(v.Len()))
		for i := range v.Len() {
			e.value(v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return bytes.Compare([]byte(a.String()), []byte(b.String())) })
		e.uint(uint64(len(keys)))
		for _, k := range keys {
			e.text(k.String())
			e.value(v.MapIndex(k))
		}
	default:
		panic("matrix: a field of kind " + v.Kind().String() + " cannot be compiled")
	}
}

// A decoder reads what an encoder wrote. Each distinct version is parsed once.
type decoder struct {
	in         []byte
	bad        bool
	texts      []string
	dotted     []version.Dotted
	python     []version.Python
	specifiers []version.Specifier
	fields     map[reflect.Type][]int // asking reflect for them is a fifth of the time
}

func (d *decoder) fieldsOf(t reflect.Type) []int {
	list, ok := d.fields[t]
	if !ok {
		fields(t, func(i int) { list = append(list, i) })
		d.fields[t] = list
	}
	return list
}

func (d *decoder) uint() uint64 {
	n, size := binary.Uvarint(d.in)
	if size <= 0 {
		d.bad, d.in = true, nil
		return 0
	}
	d.in = d.in[size:]
	return n
}

// count is the length of a list: never more than the bytes that are left.
func (d *decoder) count() int {
	n := d.uint()
	if n > uint64(len(d.in)) {
		d.bad, d.in = true, nil
		return 0
	}
	return int(n)
}

func (d *decoder) strings() {
	lengths := make([]int, d.count())
	for i := range lengths {
		lengths[i] = d.count()
	}
	total := 0
	for _, n := range lengths {
		total += n
	}
	if total > len(d.in) {
		d.bad, d.in = true, nil
		return
	}
	all := string(d.in[:total])
	d.in = d.in[total:]
	d.texts = make([]string, len(lengths))
	for i, n := range lengths {
		d.texts[i], all = all[:n], all[n:]
	}
	d.dotted = make([]version.Dotted, len(lengths))
	d.python = make([]version.Python, len(lengths))
	d.specifiers = make([]version.Specifier, len(lengths))
}

func (d *decoder) id() int {
	n := d.uint()
	if n >= uint64(len(d.texts)) {
		d.bad, d.in = true, nil
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	if id := d.id(); id < len(d.texts) {
		return d.texts[id]
	}
	return ""
}

// version sets a version from its text and reports whether v is one.
func (d *decoder) version(v reflect.Value) bool {
	switch p := v.Addr().Interface().(type) {
	case *version.Dotted:
		if id := d.id(); id > 0 {
			if d.dotted[id].IsZero() {
				d.dotted[id], _ = version.ParseDotted(d.texts[id])
			}
			*p = d.dotted[id]
		}
	case *version.Python:
		if id := d.id(); id > 0 {
			if d.python[id].IsZero() {
				d.python[id] = version.TrustPython(d.texts[id])
			}
			*p = d.python[id]
		}
	case *version.Specifier:
		if id := d.id(); id > 0 {
			if d.specifiers[id].IsZero() {
				d.specifiers[id] = version.TrustSpecifier(d.texts[id])
			}
			*p = d.specifiers[id]
		}
	default:
		return false
	}
	return true
}

func (d *decoder) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(d.text())
	case reflect.Bool:
		v.SetBool(d.uint() != 0)
	case reflect.Int:
		v.SetInt(int64(d.uint()))
	case reflect.Struct:
		if t := v.Type(); (t != dottedType && t != pythonType && t != specifierType) || !d.version(v) {
			for _, i := range d.fieldsOf(t) {
				d.value(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(v.Elem())
	case reflect.Slice:
		if n := d.count(); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				d.value(v.Index(i))
			}
		}
	case reflect.Map:
		if n := d.count(); n > 0 {
			v.Set(reflect.MakeMapWithSize(v.Type(), n))
			for range n {
				key := d.text()
				elem := reflect.New(v.Type().Elem()).Elem()
				d.value(elem)
				v.SetMapIndex(reflect.ValueOf(key), elem)
			}
		}
	}
}
