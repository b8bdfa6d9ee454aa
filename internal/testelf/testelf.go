// Package testelf writes small shared libraries for tests: an ELF header, program
// headers, a dynamic section with its tables, and no code.
package testelf

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
)

// The processors of libraries.
const (
	X86_64  = elf.EM_X86_64
	AArch64 = elf.EM_AARCH64
)

// Dynamic is what the dynamic section says.
type Dynamic struct {
	SOName         string
	Needed         []string
	RPath, RunPath string
	Interp         string // PT_INTERP, of programs

	Version [2]string // a library, and the set of symbols that is asked of it: "libc.so.6", "GLIBC_2.38"

	Undefined []string // symbols that others must have
	Defined   []string
}

// Library returns the bytes of a 64-bit little-endian shared library, which is mapped from
// address 0 on.
func Library(m elf.Machine, d Dynamic) []byte {
	table := []byte{0}
	text := func(s string) uint64 {
		at := len(table)
		table = append(append(table, s...), 0)
		return uint64(at)
	}
	var entries []elf.Dyn64
	add := func(tag elf.DynTag, value uint64) { entries = append(entries, elf.Dyn64{Tag: int64(tag), Val: value}) }
	for _, n := range d.Needed {
		add(elf.DT_NEEDED, text(n))
	}
	for tag, s := range map[elf.DynTag]string{elf.DT_SONAME: d.SOName, elf.DT_RPATH: d.RPath, elf.DT_RUNPATH: d.RunPath} {
		if s != "" {
			add(tag, text(s))
		}
	}
	symbols := []elf.Sym64{{}}
	const global = byte(elf.STB_GLOBAL) << 4
	for _, s := range d.Undefined {
		symbols = append(symbols, elf.Sym64{Name: uint32(text(s)), Info: global})
	}
	hash := []uint32{1, uint32(len(symbols)), 1, 6, 0xffffffff, 0xffffffff, 0} // a filter that admits all, one bucket
	for i, s := range d.Defined {
		if i == 0 {
			hash[6] = uint32(len(symbols))
		}
		h := gnuHash(s) &^ 1
		if i == len(d.Defined)-1 {
			h |= 1
		}
		hash = append(hash, h)
		symbols = append(symbols, elf.Sym64{Name: uint32(text(s)), Info: global, Shndx: 1})
	}
	var asks []uint32 // DT_VERNEED: one library, one set
	if d.Version[0] != "" {
		asks = []uint32{1 | 1<<16, uint32(text(d.Version[0])), 16, 0, 0, 2 << 16, uint32(text(d.Version[1])), 0}
	}
	const header, program = 64, 56
	interp := min(1, len(d.Interp))
	interpAt := text(d.Interp)
	at := uint64(header + (2+interp)*program)
	dynamic := uint64(16 * (len(entries) + 6))
	hashAt := at + dynamic
	symbolsAt := (hashAt + uint64(4*len(hash)) + 7) &^ 7
	asksAt := symbolsAt + uint64(24*len(symbols))
	tableAt := asksAt + uint64(4*len(asks))
	add(elf.DT_STRTAB, tableAt)
	add(elf.DT_STRSZ, uint64(len(table)))
	add(elf.DT_SYMTAB, symbolsAt)
	add(elf.DT_GNU_HASH, hashAt)
	add(elf.DT_VERNEED, asksAt*uint64(min(1, len(asks))))
	entries = append(entries, elf.Dyn64{})
	size := tableAt + uint64(len(table))
	h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(m), Version: 1, Phoff: header, Ehsize: header, Phentsize: program, Phnum: uint16(2 + interp), Shentsize: 64}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	var b bytes.Buffer
	for _, part := range []any{h,
		elf.Prog64{Type: uint32(elf.PT_LOAD), Filesz: size, Memsz: size},
		elf.Prog64{Type: uint32(elf.PT_DYNAMIC), Off: at, Vaddr: at, Filesz: dynamic, Memsz: dynamic},
		slices.Repeat([]elf.Prog64{{Type: uint32(elf.PT_INTERP), Off: tableAt + interpAt, Filesz: uint64(len(d.Interp) + 1)}}, interp),
		entries, hash, make([]byte, symbolsAt-hashAt-uint64(4*len(hash))), symbols, asks, table,
	} {
		// A bytes.Buffer takes everything, and all parts have a fixed size.
		_ = binary.Write(&b, binary.LittleEndian, part)
	}
	return b.Bytes()
}

func gnuHash(name string) uint32 {
	h := uint32(5381)
	for i := range len(name) {
		h = h*33 + uint32(name[i])
	}
	return h
}
