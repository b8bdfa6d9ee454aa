// Package loader says which files glibc's dynamic loader would take for a library and
// for what that asks for, and whether their symbols would bind, without loading any.
// It reads files and starts nothing.
//
// Sources: ld.so(8); the System V ABI; glibc's elf/dl-load.c, dl-lookup.c, dl-version.c.
package loader

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"path"
	"strings"
)

// An Object is what the loader reads of one ELF file.
type Object struct {
	Path    string // links followed
	Dir     string // where it was found, links not followed: $ORIGIN
	Name    string // its DT_SONAME, else its file's name
	Needed  []string
	Machine elf.Machine
	Size    int64
	Via     string // how it was found; see [View.Find]
	Entry   string // of LD_LIBRARY_PATH or LD_PRELOAD, as it stands there
	By      *Object
	Interp  string // the loader that a program names; "" none

	class          elf.Class
	rpath, runpath []string // $ORIGIN replaced
	file           func() (*os.File, error)
	loads          []load
	hollow         bool // zeros lie where its dynamic section is
	dynamic        map[elf.DynTag]uint64
	tables         *tables
}

// A load is a part of a file and the addresses that it is mapped to.
type load struct{ offset, address, size uint64 }

const (
	maxName    = 4096 // bytes of one string of a dynamic section: search paths of wheels have some hundred
	maxDynamic = 1 << 20
	maxDirs    = 64
)

// Arch reads the processor that the header of an ELF file names; false where it is none.
func Arch(head []byte) (elf.Machine, bool) {
	if len(head) < 20 || string(head[:4]) != elf.ELFMAG {
		return 0, false
	}
	if head[elf.EI_DATA] == byte(elf.ELFDATA2MSB) {
		return elf.Machine(binary.BigEndian.Uint16(head[18:])), true
	}
	return elf.Machine(binary.LittleEndian.Uint16(head[18:])), true
}

// Read reads an ELF file of this machine's tree; nil where it is none. Of those that are
// not of 64 bits and little-endian, for which no torch is built, it reads the processor.
func (s *Files) Read(file string) *Object {
	open := func() (*os.File, error) { return s.open(file) }
	f, err := open()
	if err != nil {
		return nil
	}
	defer f.Close()
	o := &Object{Path: s.Resolved(file), Dir: path.Dir(file), Name: path.Base(file), file: open}
	head := make([]byte, 64)
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil
	}
	var known bool
	if o.Machine, known = Arch(head); !known {
		return nil
	}
	if i, err := f.Stat(); err != nil || !i.Mode().IsRegular() {
		return nil
	} else {
		o.Size = i.Size()
	}
	o.class = elf.Class(head[elf.EI_CLASS])
	if o.class == elf.ELFCLASS64 && head[elf.EI_DATA] == byte(elf.ELFDATA2LSB) {
		o.segments(f, head)
	}
	return o
}

// segments reads the program headers: the loader knows no sections.
func (o *Object) segments(f *os.File, head []byte) {
	at, size, n := binary.LittleEndian.Uint64(head[32:]), int(binary.LittleEndian.Uint16(head[54:])), int(binary.LittleEndian.Uint16(head[56:]))
	if size < 56 || n > 256 {
		return
	}
	table := make([]byte, size*n)
	if got, _ := f.ReadAt(table, int64(at)); got < len(table) {
		return
	}
	var dynamic load
	for ; len(table) >= size; table = table[size:] {
		word := func(i int) uint64 { return binary.LittleEndian.Uint64(table[i:]) }
		part := load{word(8), word(16), word(32)}
		switch elf.ProgType(binary.LittleEndian.Uint32(table)) {
		case elf.PT_LOAD:
			o.loads = append(o.loads, part)
		case elf.PT_DYNAMIC:
			dynamic = part
		case elf.PT_INTERP:
			name := make([]byte, min(part.size, maxName))
			n, _ := f.ReadAt(name, int64(part.offset))
			o.Interp = strings.TrimRight(string(name[:n]), "\x00")
		}
	}
	data := make([]byte, min(dynamic.size, maxDynamic))
	if got, _ := f.ReadAt(data, int64(dynamic.offset)); got < len(data) {
		return
	}
	o.hollow = len(data) >= 16 && elf.DynTag(binary.LittleEndian.Uint64(data)) == elf.DT_NULL
	o.entries(f, data)
}

// entries reads the dynamic section. The string table of libtorch_cpu.so has megabytes,
// so only the strings that matter are read of it.
func (o *Object) entries(f io.ReaderAt, data []byte) {
	o.dynamic = map[elf.DynTag]uint64{}
	type text struct {
		tag elf.DynTag
		at  uint64
	}
	var texts []text
	for ; len(data) >= 16; data = data[16:] {
		tag, value := elf.DynTag(binary.LittleEndian.Uint64(data)), binary.LittleEndian.Uint64(data[8:])
		switch tag {
		case elf.DT_NULL:
			data = data[:16]
		case elf.DT_NEEDED, elf.DT_SONAME, elf.DT_RPATH, elf.DT_RUNPATH:
			texts = append(texts, text{tag, value})
		default:
			o.dynamic[tag] = value
		}
	}
	for _, t := range texts {
		switch s := o.text(f, t.at); t.tag {
		case elf.DT_NEEDED:
			o.Needed = append(o.Needed, s)
		case elf.DT_SONAME:
			o.Name = s
		case elf.DT_RPATH:
			o.rpath = searchPath(s, o.Dir)
		case elf.DT_RUNPATH:
			o.runpath = searchPath(s, o.Dir)
		}
	}
	if len(o.runpath) > 0 {
		o.rpath = nil // DT_RPATH counts only where there is no DT_RUNPATH
	}
}

// offset is where in the file an address of the object lies; false where it is in none.
func (o *Object) offset(address uint64) (int64, bool) {
	for _, l := range o.loads {
		if address >= l.address && address-l.address < l.size {
			return int64(l.offset + address - l.address), true
		}
	}
	return 0, false
}

// text reads one string of the object's string table.
func (o *Object) text(f io.ReaderAt, at uint64) string {
	offset, ok := o.offset(o.dynamic[elf.DT_STRTAB])
	if size := o.dynamic[elf.DT_STRSZ]; !ok || at >= size {
		return ""
	}
	b := make([]byte, 128)
	for {
		n, _ := f.ReadAt(b, offset+int64(at))
		if s, _, whole := bytes.Cut(b[:n], []byte{0}); whole {
			return string(s)
		}
		if n < len(b) || len(b) >= maxName {
			return ""
		}
		b = make([]byte, maxName)
	}
}

// searchPath reads DT_RPATH or DT_RUNPATH.
func searchPath(list, origin string) (out []string) {
	for dir := range strings.SplitSeq(list, ":") {
		dir = strings.NewReplacer("${ORIGIN}", origin, "$ORIGIN", origin).Replace(dir)
		if path.IsAbs(dir) && len(out) < maxDirs {
			out = append(out, path.Clean(dir))
		}
	}
	return out
}
