package probe

import (
	"bytes"
	"debug/elf"
	"os"
	"path"
	"strings"
)

// An object is what the dynamic loader reads of a library.
type object struct {
	path           string // links followed
	soname         string
	needed         []string
	rpath, runpath []string // $ORIGIN replaced
	machine        elf.Machine
	class          elf.Class
	size           int64
	loader         *object // that asked for it
	dir            string  // where it was found, links not followed
}

// object reads the dynamic section of a library; nil where it is none.
func (h *host) object(file string) *object {
	real := h.resolved(file)
	f, err := os.Open(h.real(real))
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	e, err := elf.NewFile(f)
	if err != nil {
		return nil
	}
	o := &object{path: real, machine: e.Machine, class: e.Class, size: info.Size()}
	o.dynamic(e, path.Dir(real))
	return o
}

// maxName is the longest string that is read of a dynamic section: search paths
// of wheels have some hundred bytes.
const maxName = 4096

// dynamic reads the dynamic section. The string table of libtorch_cpu.so has
// megabytes, so only the strings that matter are read of it.
func (o *object) dynamic(e *elf.File, origin string) {
	section := e.SectionByType(elf.SHT_DYNAMIC)
	if section == nil || int(section.Link) >= len(e.Sections) || section.Size > 1<<20 {
		return
	}
	data, err := section.Data()
	if err != nil {
		return
	}
	table := e.Sections[section.Link]
	word := 8
	if e.Class == elf.ELFCLASS32 {
		word = 4
	}
	read := func(b []byte) uint64 {
		if word == 4 {
			return uint64(e.ByteOrder.Uint32(b))
		}
		return e.ByteOrder.Uint64(b)
	}
	for ; len(data) >= 2*word; data = data[2*word:] {
		tag := elf.DynTag(read(data))
		if tag != elf.DT_NEEDED && tag != elf.DT_SONAME && tag != elf.DT_RPATH && tag != elf.DT_RUNPATH {
			continue
		}
		text := stringAt(table, read(data[word:]))
		switch tag {
		case elf.DT_NEEDED:
			o.needed = append(o.needed, text)
		case elf.DT_SONAME:
			o.soname = text
		case elf.DT_RPATH:
			o.rpath = searchPath(text, origin)
		case elf.DT_RUNPATH:
			o.runpath = searchPath(text, origin)
		}
	}
	if len(o.runpath) > 0 {
		o.rpath = nil // ld.so(8): DT_RPATH counts only where there is no DT_RUNPATH
	}
}

func stringAt(table *elf.Section, at uint64) string {
	if table.ReaderAt == nil || at >= table.Size {
		return ""
	}
	b := make([]byte, min(maxName, table.Size-at))
	n, _ := table.ReadAt(b, int64(at))
	text, _, _ := bytes.Cut(b[:n], []byte{0})
	return string(text)
}

func searchPath(list, origin string) []string {
	var out []string
	for dir := range strings.SplitSeq(list, ":") {
		dir = strings.NewReplacer("${ORIGIN}", origin, "$ORIGIN", origin).Replace(dir)
		if path.IsAbs(dir) && len(out) < maxDirs {
			out = append(out, path.Clean(dir))
		}
	}
	return out
}

// elfMachines names processors as [machine.Platform] does.
var elfMachines = map[elf.Machine]string{
	elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64", elf.EM_386: "i686", elf.EM_ARM: "armv7l", elf.EM_PPC64: "ppc64le", elf.EM_S390: "s390x", elf.EM_RISCV: "riscv64",
}

// elfArch is the processor that a library is for; "" where it is no ELF file.
func (h *host) elfArch(file string) string {
	head := h.bytes(file, 20)
	if len(head) < 20 || string(head[:4]) != "\x7fELF" {
		return ""
	}
	m := elf.Machine(uint16(head[18]) | uint16(head[19])<<8)
	if head[5] == byte(elf.ELFDATA2MSB) {
		m = elf.Machine(uint16(head[19]) | uint16(head[18])<<8)
	}
	if name, ok := elfMachines[m]; ok {
		return name
	}
	return m.String()
}
