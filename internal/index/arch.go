package index

import (
	"io"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/version"
)

// A soScan searches the bytes of libtorch_python.so, as they come, for the list
// of GPUs that torch was compiled for: the string behind
// torch._C._cuda_getArchFlags.
type soScan struct {
	buf  []byte
	seen int64
	list string
}

// overlap is what is kept of the bytes already searched: longer than any list.
const overlap = 4 << 10

// feed takes the next bytes; it returns ErrStop when the list is found or the
// search has gone on for too long.
func (s *soScan) feed(p []byte) error {
	s.seen += int64(len(p))
	s.buf = append(s.buf, p...)
	if list := findArchList(s.buf); list != "" {
		s.list = list
		return ErrStop
	}
	if s.seen > maxSearch {
		return ErrStop
	}
	if n := len(s.buf) - overlap; n > 0 {
		s.buf = append(s.buf[:0], s.buf[n:]...)
	}
	return nil
}

// archTexts is a text of at least two architectures, separated by one space each, that ends
// with a NUL: "sm_75 sm_80 compute_90\0". What stands before it does not matter: in torch
// 2.8.0 it follows other text without a NUL.
var archTexts = lazy.Regexp(`sm_\d{2,3}[af]?(?: (?:sm|compute)_\d{2,3}[af]?)+\x00`)

func findArchList(b []byte) string { return strings.TrimSuffix(string(archTexts().Find(b)), "\x00") }

// oneArch is the text of a build for one architecture.
var oneArch = lazy.Regexp(`sm_\d{2,3}[af]?\x00`)

// ArchList is the list of GPUs in the bytes of libtorch_python.so, of one GPU too; "" none is found.
func ArchList(r io.Reader) string {
	s, one, block := &soScan{}, "", make([]byte, 1<<20)
	for {
		n, err := r.Read(block)
		if s.feed(block[:n]) != nil {
			return s.list
		}
		if found := oneArch().Find(s.buf); found != nil {
			one = string(found[:len(found)-1])
		}
		if err != nil {
			return one
		}
	}
}

// glibcNeeded is the name of a symbol version that a shared object asks for.
var glibcNeeded = lazy.Regexp(`\x00GLIBC_([0-9.]+)`)

// highestGlibc returns the highest glibc that the bytes of a shared object ask for.
func highestGlibc(b []byte) (top version.Dotted) {
	for _, m := range glibcNeeded().FindAllSubmatch(b, -1) {
		if v := version.ReadDotted(string(m[1])); top.Less(v) {
			top = v
		}
	}
	return top
}
