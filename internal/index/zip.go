package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// A member is one entry of a zip directory.
type member struct {
	name             string
	method           uint16 // 0 stored, 8 deflated
	crc              uint32
	compressed, size int64
	offset           int64 // of its local header
}

// Limits of a zip directory: torch's has 15,000 entries in 1.3 MB.
const (
	maxDirectory = 64 << 20
	maxMembers   = 500_000

	endSize      = 22
	endSize64    = 56
	locatorSize  = 20
	entrySize    = 46
	localSize    = 30
	entryMagic   = "PK\x01\x02"
	localMagic   = "PK\x03\x04"
	endMagic     = "PK\x05\x06"
	endMagic64   = "PK\x06\x06"
	locatorMagic = "PK\x06\x07"
)

// An extent is where the directory of a zip file lies.
type extent struct {
	offset, size, count int64
}

// findDirectory looks for the end-of-directory record in the last bytes of a
// file of the given size. It demands what every wheel fulfils: one disk, and
// nothing between the directory and its end record, so that a file has one
// reading only.
func findDirectory(tail []byte, size int64) (extent, error) {
	start := size - int64(len(tail)) // of tail, in the file
	for i := len(tail) - endSize; i >= 0; i-- {
		b := tail[i:]
		if !bytes.HasPrefix(b, []byte(endMagic)) || endSize+int(u16(b, 20)) != len(b) {
			continue
		}
		if u16(b, 4) != 0 || u16(b, 6) != 0 || u16(b, 8) != u16(b, 10) {
			return extent{}, fmt.Errorf("a zip file of several disks")
		}
		e := extent{offset: int64(u32(b, 16)), size: int64(u32(b, 12)), count: int64(u16(b, 10))}
		end := start + int64(i)
		if e.offset == 0xffffffff || e.size == 0xffffffff || e.count == 0xffff {
			var err error
			if e, end, err = findDirectory64(tail[:i], start); err != nil {
				return extent{}, err
			}
		}
		return e, e.check(end)
	}
	return extent{}, fmt.Errorf("no zip directory at the end of the file")
}

// check refuses a directory that cannot be what ends at that offset of its file.
func (e extent) check(end int64) error {
	switch {
	case e.size > maxDirectory || e.count > maxMembers:
		return fmt.Errorf("the zip directory claims %d entries in %d bytes, which is too much", e.count, e.size)
	case e.offset < 0 || e.size < 0 || e.count < 0 || e.offset+e.size != end || e.count*entrySize > e.size:
		return fmt.Errorf("the zip directory lies about its place: %d entries in %d bytes at %d, but it ends at %d", e.count, e.size, e.offset, end)
	}
	return nil
}

// findDirectory64 reads the zip64 records that stand before the end record.
func findDirectory64(before []byte, start int64) (e extent, end int64, err error) {
	i := len(before) - locatorSize - endSize64
	if i < 0 || !bytes.HasPrefix(before[i:], []byte(endMagic64)) || !bytes.HasPrefix(before[i+endSize64:], []byte(locatorMagic)) {
		return extent{}, 0, fmt.Errorf("the zip directory is marked as zip64, but its zip64 record is not there")
	}
	b := before[i:]
	e = extent{count: int64(u64(b, 32)), size: int64(u64(b, 40)), offset: int64(u64(b, 48))}
	if e.offset > 1<<50 { // so that sums stay far from overflowing
		return extent{}, 0, fmt.Errorf("the zip directory lies about its place")
	}
	return e, start + int64(i), nil
}

// readDirectory reads a whole directory. Names are those of wheels: relative,
// without "..", each once.
func readDirectory(b []byte, e extent) ([]member, error) {
	if int64(len(b)) != e.size {
		return nil, fmt.Errorf("the zip directory has %d bytes instead of %d", len(b), e.size)
	}
	members := make([]member, 0, min(e.count, 1<<16))
	seen := make(map[string]bool, min(e.count, 1<<16))
	for len(b) > 0 {
		m, n, err := readEntry(b, e)
		if err != nil {
			return nil, err
		}
		if seen[m.name] {
			return nil, fmt.Errorf("the zip directory has %s twice", shown(m.name))
		}
		seen[m.name] = true
		members = append(members, m)
		b = b[n:]
	}
	if int64(len(members)) != e.count {
		return nil, fmt.Errorf("the zip directory has %d entries and claims %d", len(members), e.count)
	}
	return members, nil
}

// lastEntries reads those entries of a directory that lie wholly in its last
// bytes: what is looked for there (METADATA, WHEEL) comes last in a wheel, and the
// megabyte before it need not be fetched. It finds none where the bytes have no
// reading that ends where the directory ends.
func lastEntries(b []byte, e extent) []member {
	for at := 0; ; at++ {
		i := bytes.Index(b[at:], []byte(entryMagic))
		if i < 0 {
			return nil
		}
		at += i
		var members []member
		rest := b[at:]
		for len(rest) > 0 {
			m, n, err := readEntry(rest, e)
			if err != nil {
				break
			}
			members, rest = append(members, m), rest[n:]
		}
		if len(rest) == 0 {
			return members
		}
	}
}

// readEntry reads the first entry of b and returns its length.
func readEntry(b []byte, e extent) (member, int, error) {
	if len(b) < entrySize || !bytes.HasPrefix(b, []byte(entryMagic)) {
		return member{}, 0, fmt.Errorf("the zip directory is broken")
	}
	nameLen, extraLen, commentLen := int(u16(b, 28)), int(u16(b, 30)), int(u16(b, 32))
	n := entrySize + nameLen + extraLen + commentLen
	if n > len(b) {
		return member{}, 0, fmt.Errorf("the zip directory is cut off")
	}
	m := member{
		name: string(b[entrySize : entrySize+nameLen]), method: u16(b, 10), crc: u32(b, 16),
		compressed: int64(u32(b, 20)), size: int64(u32(b, 24)), offset: int64(u32(b, 42)),
	}
	if err := m.wide(b[entrySize+nameLen : entrySize+nameLen+extraLen]); err != nil {
		return member{}, 0, err
	}
	switch {
	case !wheelPath(m.name):
		return member{}, 0, fmt.Errorf("the zip directory names %q, which no wheel may hold", shown(m.name))
	case u16(b, 8)&1 != 0:
		return member{}, 0, fmt.Errorf("%s is encrypted", shown(m.name))
	case m.offset < 0 || m.compressed < 0 || m.size < 0 || m.compressed > e.offset || m.offset > e.offset-m.compressed-localSize:
		return member{}, 0, fmt.Errorf("%s would lie beyond the zip directory", shown(m.name))
	case m.method == 0 && m.size != m.compressed:
		return member{}, 0, fmt.Errorf("%s is stored, but with two different sizes", shown(m.name))
	}
	return m, n, nil
}

// wide takes the sizes of a zip64 extra field.
func (m *member) wide(extra []byte) error {
	for len(extra) >= 4 {
		id, n := u16(extra, 0), int(u16(extra, 2))
		if n > len(extra)-4 {
			break // padding of some writers; only a zip64 field matters
		}
		field := extra[4 : 4+n]
		extra = extra[4+n:]
		if id != 1 {
			continue
		}
		for _, v := range []*int64{&m.size, &m.compressed, &m.offset} {
			if *v != 0xffffffff {
				continue
			}
			if len(field) < 8 {
				return fmt.Errorf("%s: its zip64 field is cut off", shown(m.name))
			}
			*v, field = int64(u64(field, 0)), field[8:]
			if *v < 0 || *v > 1<<50 {
				return fmt.Errorf("%s: its zip64 field makes no sense", shown(m.name))
			}
		}
	}
	return nil
}

// wheelPath reports whether a name stays inside the directory that a wheel is
// unpacked into.
func wheelPath(name string) bool {
	return name != "" && len(name) <= 4096 && !strings.HasPrefix(name, "/") && !strings.ContainsAny(name, "\\\x00") &&
		!slices.Contains(strings.Split(name, "/"), "..")
}

func u16(b []byte, i int) uint16 { return binary.LittleEndian.Uint16(b[i:]) }
func u32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }
func u64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
