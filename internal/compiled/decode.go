package compiled

import (
	"reflect"

	"envfix/internal/text"
	"envfix/internal/version"
)

// Decode reads a blob into the value that v points to. It believes what the head
// says: where a blob may be another program's, ask [Of] first. An error leaves v
// half filled.
func Decode(blob string, v any) error {
	left, err := decode(blob, v)
	if err == nil && left > 0 {
		err = ErrForm
	}
	return err
}

// DecodeHead is Decode for a struct that has only the first fields of the one that was
// encoded: the rest is not read.
func DecodeHead(blob string, v any) error {
	_, err := decode(blob, v)
	return err
}

// decode returns how many bytes it left.
func decode(blob string, v any) (left int, err error) {
	if len(blob) < headSize || blob[:len(magic)] != magic {
		return 0, ErrForm
	}
	d := &decoder{in: blob[headSize:], types: map[reflect.Type]*kind{}}
	d.readTexts()
	p := reflect.ValueOf(v).Elem()
	d.value(d.kindOf(p.Type()), p)
	if d.bad {
		return 0, ErrForm
	}
	return len(d.in), nil
}

// A kind is what there is to know about a type: asking reflect at every value
// would be most of the work.
type kind struct {
	reflect.Kind
	t       reflect.Type
	version bool            // Dotted, Python or Specifier
	fields  []int           // of a struct
	of      []*kind         // of its fields, or of what is in a pointer, slice or map (key, value)
	lists   []reflect.Value // the slices or maps so far
}

type decoder struct {
	in         string
	bad        bool
	texts      []string
	dotted     []version.Dotted // by text, parsed once each
	python     []version.Python
	specifiers []version.Specifier
	types      map[reflect.Type]*kind
}

func (d *decoder) kindOf(t reflect.Type) *kind {
	if k := d.types[t]; k != nil {
		return k
	}
	k := &kind{Kind: t.Kind(), t: t, version: isVersion(t)}
	d.types[t] = k
	switch {
	case k.version:
	case k.Kind == reflect.Struct:
		k.fields = fields(t)
		k.of = append(k.of, text.Each(k.fields, func(i int) *kind { return d.kindOf(t.Field(i).Type) })...)
	case k.Kind == reflect.Map:
		k.of = []*kind{d.kindOf(t.Key()), d.kindOf(t.Elem())}
	case k.Kind == reflect.Slice, k.Kind == reflect.Pointer:
		k.of = []*kind{d.kindOf(t.Elem())}
	}
	return k
}

func (d *decoder) fail() {
	d.bad, d.in = true, ""
}

func (d *decoder) uint() uint64 {
	if len(d.in) > 0 && d.in[0] < 0x80 { // nearly always
		n := d.in[0]
		d.in = d.in[1:]
		return uint64(n)
	}
	var n uint64
	for i := 0; i < len(d.in) && i < 9; i++ {
		n |= uint64(d.in[i]&0x7f) << (7 * i)
		if d.in[i] < 0x80 {
			d.in = d.in[i+1:]
			return n
		}
	}
	d.fail()
	return 0
}

// int undoes binary.AppendVarint.
func (d *decoder) int() int64 {
	n := d.uint()
	if n&1 != 0 {
		return ^int64(n >> 1)
	}
	return int64(n >> 1)
}

// count is the length of a list: never more than the bytes that are left.
func (d *decoder) count() int {
	n := d.uint()
	if n > uint64(len(d.in)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) readTexts() {
	lengths := make([]int, d.count())
	total := 0
	for i := range lengths {
		lengths[i] = d.count()
		total += lengths[i]
	}
	if total > len(d.in) || len(lengths) == 0 {
		d.fail()
		return
	}
	all := d.in[:total]
	d.in = d.in[total:]
	d.texts = make([]string, len(lengths))
	for i, n := range lengths {
		d.texts[i], all = all[:n], all[n:]
	}
}

// id is the number of a text; 0 is none.
func (d *decoder) id() int {
	n := d.uint()
	if n >= uint64(len(d.texts)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) value(k *kind, v reflect.Value) {
	if d.bad {
		return
	}
	if k.version {
		d.readVersion(v)
		return
	}
	switch k.Kind {
	case reflect.String:
		if id := d.id(); id > 0 {
			v.SetString(d.texts[id])
		}
	case reflect.Bool:
		v.SetBool(d.uint() != 0)
	case reflect.Int:
		v.SetInt(d.int())
	case reflect.Struct:
		for n, i := range k.fields {
			d.value(k.of[n], v.Field(i))
		}
	case reflect.Pointer:
		if d.uint() == 1 {
			p := reflect.New(k.of[0].t)
			d.value(k.of[0], p.Elem())
			v.Set(p)
		}
	case reflect.Slice, reflect.Map:
		d.list(k, v)
	}
}

func (d *decoder) list(k *kind, v reflect.Value) {
	switch n := d.uint(); {
	case n == 0:
		return
	case n > 1:
		if n-2 >= uint64(len(k.lists)) {
			d.fail()
			return
		}
		v.Set(k.lists[n-2])
		return
	}
	n := d.count()
	if k.Kind == reflect.Map {
		m := reflect.MakeMapWithSize(k.t, n)
		key, elem := reflect.New(k.of[0].t).Elem(), reflect.New(k.of[1].t).Elem()
		for range n {
			key.SetZero()
			elem.SetZero()
			d.value(k.of[0], key)
			d.value(k.of[1], elem)
			m.SetMapIndex(key, elem)
		}
		v.Set(m)
		k.lists = append(k.lists, m)
	} else {
		s := reflect.MakeSlice(k.t, n, n)
		for i := range n {
			d.value(k.of[0], s.Index(i))
		}
		v.Set(s)
		k.lists = append(k.lists, s)
	}
}

func (d *decoder) readVersion(v reflect.Value) {
	id := d.id()
	if id == 0 {
		return
	}
	switch p := v.Addr().Interface().(type) {
	case *version.Dotted:
		*p = once(d, &d.dotted, id, version.ReadDotted)
	case *version.Python:
		*p = once(d, &d.python, id, version.TrustPython)
	case *version.Specifier:
		*p = once(d, &d.specifiers, id, version.TrustSpecifier)
	}
}

// once is the version that a text stands for, parsed at its first use.
func once[T interface{ IsZero() bool }](d *decoder, known *[]T, id int, parse func(string) T) T {
	if *known == nil {
		*known = make([]T, len(d.texts))
	}
	if (*known)[id].IsZero() {
		(*known)[id] = parse(d.texts[id])
	}
	return (*known)[id]
}
