// Package compiled is the form in which data is built into the program: made from
// the YAML of data/ by `go generate ./data`, read at every start. YAML takes fifty
// times as long.
//
// A blob is a head (magic, a number for the layout of the types, the SHA256 of the
// files it was made from), every distinct text once, every distinct list and map
// once, and the value. Texts are not copied out of the blob, and lists that say
// the same are one list: what was decoded must not be changed.
package compiled

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"

	"envfix/internal/version"
)

const (
	magic    = "envfix data 2\n"
	headSize = len(magic) + 8 + 32
)

// ErrForm is a blob that no Encode of this program wrote.
var ErrForm = errors.New("not compiled data of this program; `go generate ./data` makes it")

// Of reports whether a blob was made by a program with these types, from files
// with this SHA256. v is a value of the type that was encoded.
func Of(blob string, v any, sum [32]byte) bool {
	return len(blob) >= headSize && blob[:headSize] == string(head(reflect.TypeOf(v), sum))
}

func head(t reflect.Type, sum [32]byte) []byte {
	return append(binary.LittleEndian.AppendUint64([]byte(magic), layout(t)), sum[:]...)
}

// The versions are compiled as their text.
var (
	dottedType    = reflect.TypeFor[version.Dotted]()
	pythonType    = reflect.TypeFor[version.Python]()
	specifierType = reflect.TypeFor[version.Specifier]()
)

func isVersion(t reflect.Type) bool { return t == dottedType || t == pythonType || t == specifierType }

// fields are the indexes of the fields that are compiled: exported, and not
// tagged `compiled:"-"`.
func fields(t reflect.Type) []int {
	var list []int
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && f.Tag.Get("compiled") != "-" {
			list = append(list, i)
		}
	}
	return list
}

// layout is a number for the names and types of all fields.
func layout(t reflect.Type) uint64 {
	h := fnv.New64a()
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		fmt.Fprint(h, t.String(), t.Kind(), ";")
		if seen[t] || isVersion(t) {
			return
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Struct:
			for _, i := range fields(t) {
				fmt.Fprint(h, t.Field(i).Name, ":")
				walk(t.Field(i).Type)
			}
		case reflect.Slice, reflect.Pointer:
			walk(t.Elem())
		case reflect.Map:
			walk(t.Key())
			walk(t.Elem())
		}
	}
	walk(t)
	return h.Sum64()
}
