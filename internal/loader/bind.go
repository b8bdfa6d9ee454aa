package loader

import (
	"debug/elf"
	"encoding/binary"
	"envfix/internal/xslices"
	"io"
	"slices"
	"strings"
)

// A Fault is what the loader would refuse of an object whose libraries are all there.
type Fault struct {
	By      *Object
	Symbol  string  // that no library has; "" see Version
	Version string  // of a set of symbols, such as GLIBCXX_3.4.32, that Library lacks
	Library *Object // nil: of a symbol nobody can tell
}

// tables are the parts of an object by which symbols are found in it.
type tables struct {
	bloom, buckets, chain []byte
	shift, first          uint32
	defined               []string // the sets of symbols of DT_VERDEF
}

// maxTable is the most that is read of a hash table; libtorch_cpu.so's has 2 MB.
const maxTable = 64 << 20

// table reads DT_GNU_HASH (the format is described in binutils' bfd/elflink.c). An object
// without it has no symbols that could be looked up so: nil parts.
func (o *Object) table(f io.ReaderAt) *tables {
	if o.tables != nil {
		return o.tables
	}
	t := &tables{}
	o.tables = t
	at, ok := o.offset(o.dynamic[elf.DT_GNU_HASH])
	head := make([]byte, 16)
	if _, set := o.dynamic[elf.DT_GNU_HASH]; !ok || !set {
		return t
	}
	if _, err := f.ReadAt(head, at); err != nil {
		return t
	}
	n, words := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint32(head[8:])
	t.first, t.shift = binary.LittleEndian.Uint32(head[4:]), binary.LittleEndian.Uint32(head[12:])
	size := 8*int64(words) + 4*int64(n)
	if size > maxTable {
		return t
	}
	data := make([]byte, size)
	if got, _ := f.ReadAt(data, at+16); int64(got) < size {
		return t
	}
	t.bloom, t.buckets = data[:8*words], data[8*words:]
	last := uint32(0)
	for b := t.buckets; len(b) >= 4; b = b[4:] {
		last = max(last, binary.LittleEndian.Uint32(b))
	}
	if last < t.first {
		return t
	}
	// The chain ends after the last bucket's own end, which is found by reading on.
	chain, start := make([]byte, 4*int64(last-t.first+1)), at+16+size
	if got, _ := f.ReadAt(chain, start); got < len(chain) {
		return t
	}
	for word := make([]byte, 4); chain[len(chain)-4]&1 == 0 && len(chain) < maxTable; chain = append(chain, word...) {
		if _, err := f.ReadAt(word, start+int64(len(chain))); err != nil {
			return t
		}
	}
	t.chain = chain
	return t
}

func gnuHash(name string) uint32 {
	h := uint32(5381)
	for i := range len(name) {
		h = h*33 + uint32(name[i])
	}
	return h
}

// defines reports whether an object defines a symbol.
func (o *Object) defines(f io.ReaderAt, name string) bool {
	t, h := o.table(f), gnuHash(name)
	if words := uint32(len(t.bloom) / 8); words > 0 {
		word := binary.LittleEndian.Uint64(t.bloom[8*(h/64%words):])
		if word>>(h%64)&1 == 0 || word>>(h>>t.shift%64)&1 == 0 {
			return false
		}
	}
	n := uint32(len(t.buckets) / 4)
	if n == 0 || len(t.chain) == 0 {
		_, gnu := o.dynamic[elf.DT_GNU_HASH]
		return !gnu && o.inChain(f, name)
	}
	i := binary.LittleEndian.Uint32(t.buckets[4*(h%n):])
	for ; i >= t.first && 4*int64(i-t.first) < int64(len(t.chain)); i++ {
		c := binary.LittleEndian.Uint32(t.chain[4*(i-t.first):])
		if c|1 == h|1 {
			if s, ok := o.symbol(f, i); ok && s.section != 0 && s.name == name {
				return true
			}
		}
		if c&1 == 1 {
			break
		}
	}
	return false
}

// inChain is defines for an object that has the older table alone, DT_HASH.
func (o *Object) inChain(f io.ReaderAt, name string) bool {
	at, ok := o.offset(o.dynamic[elf.DT_HASH])
	word := func(i uint32) uint32 {
		b := make([]byte, 4)
		_, _ = f.ReadAt(b, at+4*int64(i)) // 0 ends the chain
		return binary.LittleEndian.Uint32(b)
	}
	n, h := uint32(0), uint32(0)
	if ok && o.dynamic[elf.DT_HASH] != 0 {
		n = word(0)
	}
	for i := range len(name) {
		h = h<<4 + uint32(name[i])
		h = (h ^ h>>24&0xf0) & 0x0fffffff
	}
	if n == 0 {
		return false
	}
	i := word(2 + h%n)
	for range 1 << 16 {
		s, ok := o.symbol(f, i)
		switch {
		case i == 0 || !ok:
			return false
		case s.section != 0 && s.name == name:
			return true
		}
		i = word(2 + n + i)
	}
	return false
}

type symbol struct {
	name    string
	section uint16 // 0: it is not defined here
}

func (o *Object) symbol(f io.ReaderAt, i uint32) (symbol, bool) {
	at, ok := o.offset(o.dynamic[elf.DT_SYMTAB])
	b := make([]byte, 24)
	if !ok {
		return symbol{}, false
	}
	if _, err := f.ReadAt(b, at+24*int64(i)); err != nil {
		return symbol{}, false
	}
	return symbol{o.text(f, uint64(binary.LittleEndian.Uint32(b))), binary.LittleEndian.Uint16(b[6:])}, true
}

// undefined are the symbols that others must have: those before the first that the hash
// table holds. Weak ones may be missing.
func (o *Object) undefined(f io.ReaderAt) (out []string) {
	t := o.table(f)
	first := t.first
	if len(t.chain) == 0 && first == 0 {
		return nil
	}
	at, ok := o.offset(o.dynamic[elf.DT_SYMTAB])
	data := make([]byte, 24*int64(min(first, 1<<20)))
	if n, _ := f.ReadAt(data, at); !ok || n < len(data) {
		return nil
	}
	for i := 24; i+24 <= len(data); i += 24 {
		b := data[i:]
		if binary.LittleEndian.Uint16(b[6:]) == 0 && b[4]>>4 == byte(elf.STB_GLOBAL) {
			if name := o.text(f, uint64(binary.LittleEndian.Uint32(b))); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}

// Bind looks for the symbols that an object leaves to others, as the loader does when it
// binds: in the global scope, then in the tree of what was opened. only limits it to some
// symbols; nil takes all. At most eight faults are named. Where a library that the object
// needs is missing, whose symbols nobody knows, it says nothing.
func (v *View) Bind(o *Object, opened []*Object, only func(symbol string) bool) []Fault {
	scope := slices.Clone(v.Global)
	for _, l := range opened {
		scope = xslices.Add(scope, l)
	}
	for _, l := range v.Tree(o) {
		if slices.ContainsFunc(l.Needed, func(name string) bool { return v.byName[name] == nil }) {
			return nil
		}
	}
	own, err := o.file()
	if err != nil {
		return nil
	}
	defer own.Close()
	var out []Fault
	readers := readers{}
	defer readers.close()
	for _, name := range o.undefined(own) {
		if only != nil && !only(name) || v.Program == nil && strings.HasPrefix(strings.TrimLeft(name, "_"), "Py") {
			continue
		}
		if !slices.ContainsFunc(scope, func(l *Object) bool { f := readers.of(l); return f != nil && l.defines(f, name) }) {
			if out = append(out, Fault{By: o, Symbol: name}); len(out) == 8 {
				break
			}
		}
	}
	return out
}

// Defines reports whether a library defines a symbol.
func (o *Object) Defines(name string) bool {
	f, err := o.file()
	if err != nil {
		return false
	}
	defer f.Close()
	return o.defines(f, name)
}
