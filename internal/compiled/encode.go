package compiled

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
)

// Encode compiles a value that was made from files with this SHA256. It panics
// on a type that has no compiled form (a test compiles all there are): there are
// texts, bools, ints, versions, and structs, pointers, slices and maps of them.
func Encode(v any, sum [32]byte) []byte {
	e := &encoder{texts: map[string]uint64{"": 0}, order: []string{""}, lists: map[reflect.Type]map[string]uint64{}}
	value := e.value(nil, reflect.ValueOf(v))
	out := head(reflect.TypeOf(v), sum)
	out = binary.AppendUvarint(out, uint64(len(e.order)))
	for _, t := range e.order {
		out = binary.AppendUvarint(out, uint64(len(t)))
	}
	for _, t := range e.order {
		out = append(out, t...)
	}
	return append(out, value...)
}

type encoder struct {
	texts map[string]uint64
	order []string
	// The lists of each type by what they hold: the first is written out, the
	// others say its number.
	lists map[reflect.Type]map[string]uint64
}

func (e *encoder) text(out []byte, s string) []byte {
	id, ok := e.texts[s]
	if !ok {
		id = uint64(len(e.order))
		e.texts[s] = id
		e.order = append(e.order, s)
	}
	return binary.AppendUvarint(out, id)
}

func (e *encoder) value(out []byte, v reflect.Value) []byte {
	if isVersion(v.Type()) {
		return e.text(out, v.Interface().(fmt.Stringer).String())
	}
	switch v.Kind() {
	case reflect.String:
		return e.text(out, v.String())
	case reflect.Bool:
		if v.Bool() {
			return append(out, 1)
		}
		return append(out, 0)
	case reflect.Int:
		return binary.AppendVarint(out, v.Int())
	case reflect.Struct:
		for _, i := range fields(v.Type()) {
			out = e.value(out, v.Field(i))
		}
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return append(out, 0)
		}
		return e.value(append(out, 1), v.Elem())
	case reflect.Slice, reflect.Map:
		return e.list(out, v)
	}
	panic("compiled: " + v.Type().String() + " has no compiled form")
}

// list writes 0 for none, 1 and the list where it is the first of its kind, or
// its number.
func (e *encoder) list(out []byte, v reflect.Value) []byte {
	if v.Len() == 0 {
		return append(out, 0)
	}
	body := binary.AppendUvarint(nil, uint64(v.Len()))
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			body = e.value(body, v.Index(i))
		}
	} else {
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return compare(a, b) })
		for _, k := range keys {
			body = e.value(e.value(body, k), v.MapIndex(k))
		}
	}
	known := e.lists[v.Type()]
	if known == nil {
		known = map[string]uint64{}
		e.lists[v.Type()] = known
	}
	if id, ok := known[string(body)]; ok {
		return binary.AppendUvarint(out, id)
	}
	known[string(body)] = uint64(len(known)) + 2
	return append(append(out, 1), body...)
}

func compare(a, b reflect.Value) int {
	if a.Kind() == reflect.Int {
		return cmp.Compare(a.Int(), b.Int())
	}
	return cmp.Compare(a.String(), b.String())
}
