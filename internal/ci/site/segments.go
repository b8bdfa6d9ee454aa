package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// The Go linker leaves runs of zeros out of a program's data and so writes a hundred
// thousand small segments. Their heads break up what a compressor would find repeated:
// joined, the data is larger as it lies and a fifth smaller when compressed.

// joined is the largest run of zeros that is written out, in bytes.
const joined = 64

// A segment is a piece of the memory that a module starts with.
type segment struct {
	at   int
	data []byte
}

func (s segment) end() int { return s.at + len(s.data) }

// Numbers of the binary format of WebAssembly (core specification, section 5).
const (
	dataSection = 11
	i32Const    = 0x41
	opEnd       = 0x0b
)

var errModule = errors.New("this is no WebAssembly module that the Go linker wrote")

// join writes a module anew with fewer, larger segments: the same memory.
func join(module []byte) ([]byte, error) {
	if len(module) < 8 || string(module[:4]) != "\x00asm" {
		return nil, errModule
	}
	out := bytes.Clone(module[:8])
	for rest := module[8:]; len(rest) > 0; {
		id := rest[0]
		size, n := binary.Uvarint(rest[1:]) // unsigned LEB128 is Go's varint
		if n <= 0 || size > uint64(len(rest)-1-n) {
			return nil, errModule
		}
		body := rest[1+n : 1+n+int(size)]
		rest = rest[1+n+int(size):]
		if id == dataSection {
			segments, err := readSegments(body)
			if err != nil {
				return nil, err
			}
			body = writeSegments(merge(segments))
		}
		out = append(out, id)
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
	}
	return out, nil
}

// readSegments reads a data section whose segments all lie at a constant, and not over
// each other: so neither their order nor zeros between two of them change the memory.
func readSegments(body []byte) ([]segment, error) {
	r := bytes.NewReader(body)
	count, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, errModule
	}
	var out []segment
	for range count {
		flags, _ := r.ReadByte()
		op, err := r.ReadByte()
		if err != nil || flags != 0 || op != i32Const {
			return nil, fmt.Errorf("%w: a segment that is not active, or not at a constant", errModule)
		}
		at, err := signed(r)
		if err != nil {
			return nil, err
		}
		if b, err := r.ReadByte(); err != nil || b != opEnd {
			return nil, errModule
		}
		size, err := binary.ReadUvarint(r)
		if err != nil || size > uint64(r.Len()) {
			return nil, errModule
		}
		data := make([]byte, size)
		_, _ = r.Read(data) // so much is there
		if size > 0 {
			out = append(out, segment{at, data})
		}
	}
	slices.SortStableFunc(out, func(a, b segment) int { return cmp.Compare(a.at, b.at) })
	for i := 1; i < len(out); i++ {
		if out[i].at < out[i-1].end() {
			return nil, fmt.Errorf("%w: its segments lie over each other", errModule)
		}
	}
	return out, nil
}

// merge joins neighbours that at most a few zeros part.
func merge(segments []segment) []segment {
	var out []segment
	for _, s := range segments {
		if len(out) > 0 {
			last := &out[len(out)-1]
			if gap := s.at - last.end(); gap <= joined {
				last.data = append(append(last.data, make([]byte, gap)...), s.data...)
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

func writeSegments(segments []segment) []byte {
	out := binary.AppendUvarint(nil, uint64(len(segments)))
	for _, s := range segments {
		out = append(out, 0, i32Const)
		out = appendSigned(out, s.at)
		out = append(out, opEnd)
		out = binary.AppendUvarint(out, uint64(len(s.data)))
		out = append(out, s.data...)
	}
	return out
}

// signed reads a signed LEB128, which is not Go's zigzag.
func signed(r *bytes.Reader) (int, error) {
	n, shift := int64(0), 0
	for {
		b, err := r.ReadByte()
		if err != nil || shift > 28 {
			return 0, errModule
		}
		n |= int64(b&0x7f) << shift
		shift += 7
		if b&0x80 == 0 {
			if b&0x40 != 0 {
				n |= -1 << shift
			}
			return int(uint32(n)), nil // an address of a memory below 4 GiB
		}
	}
}

func appendSigned(out []byte, at int) []byte {
	for n := int64(int32(uint32(at))); ; n >>= 7 {
		b := byte(n & 0x7f)
		if rest := n >> 7; rest == 0 && b&0x40 == 0 || rest == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}
