package index

import (
	"bytes"
	"context"
	"fmt"
)

// Fatbins counts the code in the fat binaries of one shared object: how many
// pieces for each architecture. The layout of their headers is not documented by
// NVIDIA; it was read off wheels whose contents cuobjdump had listed.
type Fatbins struct {
	Count  int            `json:"fatbins"`
	Native map[string]int `json:"native"` // "9.0a": 12
	PTX    map[string]int `json:"ptx"`
}

const (
	fatMagic   = "\x50\xed\x55\xba\x01\x00\x10\x00" // 0xBA55ED50, version 1, header of 16 bytes
	fatHeader  = 16
	fatEntry   = 64 // shortest header of an entry that is looked at
	maxFatbin  = 4 << 30
	maxHeader  = 8192
	kindPTX    = 1
	kindCubin  = 2
	flagArch   = 0x100000 // sm_90a
	flagFamily = 0x200000 // sm_100f
)

// A fatScan finds fat binaries in a shared object that arrives piece by piece,
// and walks their entries, jumping over the code itself.
type fatScan struct {
	found Fatbins
	buf   []byte
	skip  int64 // bytes still to be passed over
	left  int64 // bytes of the open fat binary; 0: none is open
}

func newFatScan() *fatScan {
	return &fatScan{found: Fatbins{Native: map[string]int{}, PTX: map[string]int{}}}
}

// feed takes the next bytes.
func (s *fatScan) feed(p []byte) error {
	if s.skip >= int64(len(p)) {
		s.skip -= int64(len(p))
		return nil
	}
	p = p[s.skip:]
	s.skip = 0
	s.buf = append(s.buf, p...)
	at := 0
	for at < len(s.buf) {
		n := s.step(s.buf[at:])
		if n == 0 {
			break // more bytes are needed
		}
		at += n
	}
	if at > len(s.buf) {
		s.skip = int64(at - len(s.buf))
		at = len(s.buf)
	}
	s.buf = append(s.buf[:0], s.buf[at:]...)
	return nil
}

// step moves on by at least one byte, or returns 0 to wait for more.
func (s *fatScan) step(b []byte) int {
	if s.left > 0 {
		return s.entry(b)
	}
	i := bytes.Index(b, []byte(fatMagic))
	if i < 0 {
		return max(0, len(b)-len(fatMagic)+1)
	}
	if len(b) < i+fatHeader {
		return i
	}
	size := u64(b, i+8)
	if size < fatEntry || size > maxFatbin {
		return i + len(fatMagic)
	}
	s.found.Count++
	s.left = int64(size)
	return i + fatHeader
}

// entry reads the header of one entry of the open fat binary and returns how far
// the next one is.
func (s *fatScan) entry(b []byte) int {
	if s.left < fatEntry {
		n := s.left
		s.left = 0
		return int(n)
	}
	if len(b) < fatEntry {
		return 0
	}
	kind, header, size := u16(b, 0), int64(u32(b, 4)), u64(b, 8)
	if header < 32 || header > maxHeader || size > uint64(s.left) || header+int64(size) > s.left {
		s.left = 0 // not a list of entries after all: search on from here
		return 4
	}
	name := fmt.Sprintf("%d.%d", u32(b, 28)/10, u32(b, 28)%10)
	switch flags := u64(b, 40); {
	case flags&flagArch != 0:
		name += "a"
	case flags&flagFamily != 0:
		name += "f"
	}
	if u32(b, 28) < 1000 {
		switch kind {
		case kindPTX:
			s.found.PTX[name]++
		case kindCubin:
			s.found.Native[name]++
		}
	}
	s.left -= header + int64(size)
	return int(header + int64(size))
}

// Fatbins walks the fat binaries of a shared object. It reads the whole member:
// hundreds of MB for cuBLAS or cuDNN.
func (w *Wheel) Fatbins(ctx context.Context, name string) (Fatbins, error) {
	s := newFatScan()
	err := w.Stream(ctx, name, 8<<20, s.feed)
	return s.found, err
}
