package main

import (
	"bytes"
	"encoding/binary"
	"math/rand"
	"testing"
)

// module is a module with nothing but data, as the linker writes it: a section before
// it and one after it that stay as they are.
func module(segments []segment) []byte {
	out := []byte("\x00asm\x01\x00\x00\x00\x05\x03\x01\x00\x10")
	body := writeSegments(segments)
	out = append(out, dataSection)
	out = binary.AppendUvarint(out, uint64(len(body)))
	return append(append(out, body...), "\x00\x03\x01ab"...)
}

// memory is what a module's memory holds at its start.
func memory(t *testing.T, m []byte, size int) []byte {
	t.Helper()
	out := make([]byte, size)
	_, body, ok := bytes.Cut(m, []byte("\x05\x03\x01\x00\x10\x0b"))
	body, _, after := bytes.Cut(body, []byte("\x00\x03\x01ab"))
	if !ok || !after {
		t.Fatal("the other sections are not as they were")
	}
	n, k := binary.Uvarint(body)
	if int(n) != len(body)-k {
		t.Fatalf("a section of %d bytes says %d", len(body)-k, n)
	}
	segments, err := readSegments(body[k:])
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range segments {
		copy(out[s.at:], s.data)
	}
	return out
}

// Joined segments are the same memory, in whatever order they were written.
func TestJoin(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	const size = 1 << 20
	for range 50 {
		var list []segment
		at := r.Intn(100)
		for range 1 + r.Intn(200) {
			data := make([]byte, r.Intn(40))
			for i := range data {
				data[i] = byte(1 + r.Intn(255))
			}
			list = append(list, segment{at, data})
			at += len(data) + r.Intn(90)
			if r.Intn(20) == 0 {
				at += r.Intn(4000)
			}
		}
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		before := module(list)
		after, err := join(before)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(memory(t, before, size), memory(t, after, size)) {
			t.Fatalf("another memory from %d segments", len(list))
		}
	}
	few, err := join(module([]segment{{8, []byte("ab")}, {20, []byte("cd")}, {900, []byte("ef")}}))
	if want := module([]segment{{8, []byte("ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00cd")}, {900, []byte("ef")}}); err != nil || !bytes.Equal(few, want) {
		t.Errorf("%v %q", err, few)
	}
}

// What is no module is refused, whole or cut.
func TestJoinRefuses(t *testing.T) {
	whole := module([]segment{{8, []byte("ab")}, {-16, []byte("high")}})
	if _, err := join(whole); err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) {
		if n == 8 || n == 13 || n == len(whole)-5 { // between sections
			continue
		}
		if _, err := join(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes are taken", n, len(whole))
		}
	}
	if _, err := join([]byte("\x00asm\x01\x00\x00\x00\x0b\x02\x01\x01")); err == nil {
		t.Error("a passive segment is taken")
	}
	if _, err := join(module([]segment{{8, []byte("abcd")}, {10, []byte("ef")}})); err == nil {
		t.Error("segments that lie over each other are taken")
	}
}
