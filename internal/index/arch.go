package index

import (
	"bytes"

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

// findArchList returns the first text of at least two architectures, separated
// by one space each, that ends with a NUL: "sm_75 sm_80 compute_90\0". What stands
// before it does not matter: in torch 2.8.0 it follows other text without a NUL.
func findArchList(b []byte) string {
	for at := 0; ; {
		i := bytes.Index(b[at:], []byte("sm_"))
		if i < 0 {
			return ""
		}
		start := at + i
		at = start + 3
		end, words := start, 0
		for {
			n := archWord(b[end:])
			if n == 0 {
				break
			}
			end, words = end+n, words+1
			if end < len(b) && b[end] == ' ' {
				end++
				continue
			}
			break
		}
		if words >= 2 && end < len(b) && b[end] == 0 && b[end-1] != ' ' {
			return string(b[start:end])
		}
	}
}

// archWord returns the length of the sm_90a or compute_120 that b begins with.
func archWord(b []byte) int {
	n := 0
	switch {
	case bytes.HasPrefix(b, []byte("sm_")):
		n = 3
	case bytes.HasPrefix(b, []byte("compute_")):
		n = 8
	default:
		return 0
	}
	digits := n
	for n < len(b) && n < digits+3 && '0' <= b[n] && b[n] <= '9' {
		n++
	}
	if n < digits+2 {
		return 0
	}
	if n < len(b) && (b[n] == 'a' || b[n] == 'f') {
		n++
	}
	return n
}

// highestGlibc returns the highest "\0GLIBC_2.17\0" among the bytes of a shared
// object, the names of the symbol versions that it asks for.
func highestGlibc(b []byte) version.Dotted {
	const mark = "\x00GLIBC_"
	var top version.Dotted
	for {
		i := bytes.Index(b, []byte(mark))
		if i < 0 {
			return top
		}
		b = b[i+len(mark):]
		end := bytes.IndexByte(b[:min(len(b), 12)], 0)
		if end < 0 {
			continue
		}
		if v, err := version.ParseDotted(string(b[:end])); err == nil && top.Less(v) {
			top = v
		}
	}
}
