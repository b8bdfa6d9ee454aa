package loader

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"slices"
)

// The tags of the versions of symbols that debug/elf has no constants for in a dynamic
// section of 64 bits are those of its own table.
const (
	flagWeak = 2 // VER_FLG_WEAK: only a warning where it is missing
	perTable = 4096
)

// Versions checks the sets of symbols that loaded objects ask for (DT_VERNEED) against
// those that the loaded libraries define: GLIBC_2.38, GLIBCXX_3.4.32. A library that
// defines none at all is no fault to the loader, as long as the symbols are somewhere.
func (v *View) Versions(of []*Object) (out []Fault) {
	readers := readers{}
	defer readers.close()
	bound := map[*Object]bool{}
	for _, o := range of {
		f := readers.of(o)
		if f == nil {
			continue
		}
		for _, n := range o.versionsNeeded(f) {
			l := v.byName[n.file]
			if l == nil || l == o {
				continue
			}
			switch defined := l.versionsDefined(readers.of(l)); {
			case len(out) == 8, slices.Contains(defined, n.version):
			case len(defined) > 0:
				out = append(out, Fault{By: o, Version: n.version, Library: l})
			case !bound[o]:
				bound[o] = true
				if lost := v.Bind(o, v.All, nil); len(lost) > 0 {
					out = append(out, Fault{By: o, Symbol: lost[0].Symbol, Library: l})
				}
			}
		}
	}
	return out
}

type neededVersion struct{ file, version string }

// versionsNeeded reads DT_VERNEED: for each library a list of sets.
func (o *Object) versionsNeeded(f io.ReaderAt) (out []neededVersion) {
	at, ok := o.offset(o.dynamic[elf.DT_VERNEED])
	if !ok || o.dynamic[elf.DT_VERNEED] == 0 {
		return nil
	}
	record := func(at int64) []byte {
		b := make([]byte, 16)
		if _, err := f.ReadAt(b, at); err != nil {
			return nil
		}
		return b
	}
	for range perTable {
		b := record(at) // version, count, file, first entry, next library
		if b == nil {
			break
		}
		file := o.text(f, uint64(binary.LittleEndian.Uint32(b[4:])))
		sub := at + int64(binary.LittleEndian.Uint32(b[8:]))
		for range binary.LittleEndian.Uint16(b[2:]) {
			x := record(sub) // hash, flags, other, name, next
			if x == nil {
				break
			}
			if binary.LittleEndian.Uint16(x[4:])&flagWeak == 0 {
				out = append(out, neededVersion{file, o.text(f, uint64(binary.LittleEndian.Uint32(x[8:])))})
			}
			sub += int64(binary.LittleEndian.Uint32(x[12:]))
		}
		next := binary.LittleEndian.Uint32(b[12:])
		if next == 0 {
			break
		}
		at += int64(next)
	}
	return out
}

// versionsDefined reads DT_VERDEF.
func (o *Object) versionsDefined(f *os.File) []string {
	at, ok := o.offset(o.dynamic[elf.DT_VERDEF])
	if f == nil || !ok || o.dynamic[elf.DT_VERDEF] == 0 {
		return nil
	}
	t := o.table(f)
	if t.defined != nil {
		return t.defined
	}
	for range perTable {
		b := make([]byte, 20) // version, flags, index, count, hash, first name, next
		if _, err := f.ReadAt(b, at); err != nil {
			break
		}
		name := make([]byte, 4)
		if _, err := f.ReadAt(name, at+int64(binary.LittleEndian.Uint32(b[12:]))); err != nil {
			break
		}
		t.defined = append(t.defined, o.text(f, uint64(binary.LittleEndian.Uint32(name))))
		next := binary.LittleEndian.Uint32(b[16:])
		if next == 0 {
			break
		}
		at += int64(next)
	}
	return t.defined
}

// readers are the files that are open while symbols are looked for.
type readers map[*Object]*os.File

// of is an object's file; nil where it is gone.
func (r readers) of(o *Object) *os.File {
	f, known := r[o]
	if !known {
		f, _ = o.file()
		r[o] = f
	}
	return f
}

func (r readers) close() {
	for _, f := range r {
		if f != nil {
			f.Close()
		}
	}
}
