// Package testelf writes small shared libraries for tests: an ELF header, a
// dynamic section and its strings, and no code.
package testelf

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
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
}

// Library returns the bytes of a 64-bit little-endian shared library.
func Library(m elf.Machine, d Dynamic) []byte {
	table := []byte{0}
	var entries []elf.Dyn64
	add := func(tag elf.DynTag, text string) {
		if text != "" {
			entries = append(entries, elf.Dyn64{Tag: int64(tag), Val: uint64(len(table))})
			table = append(append(table, text...), 0)
		}
	}
	for _, n := range d.Needed {
		add(elf.DT_NEEDED, n)
	}
	add(elf.DT_SONAME, d.SOName)
	add(elf.DT_RPATH, d.RPath)
	add(elf.DT_RUNPATH, d.RunPath)
	entries = append(entries, elf.Dyn64{})

	const header, section = 64, 64
	dynamic := uint64(16 * len(entries))
	sections := uint64(header) + dynamic + uint64(len(table))
	h := elf.Header64{
		Type:      uint16(elf.ET_DYN),
		Machine:   uint16(m),
		Version:   1,
		Shoff:     sections,
		Ehsize:    header,
		Phentsize: 56,
		Shentsize: section,
		Shnum:     3,
		Shstrndx:  2,
	}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	var b bytes.Buffer
	for _, part := range []any{h, entries, table,
		elf.Section64{},
		elf.Section64{Type: uint32(elf.SHT_DYNAMIC), Off: header, Size: dynamic, Link: 2, Entsize: 16},
		elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: header + dynamic, Size: uint64(len(table))},
	} {
		// A bytes.Buffer takes everything, and all parts have a fixed size.
		_ = binary.Write(&b, binary.LittleEndian, part)
	}
	return b.Bytes()
}
