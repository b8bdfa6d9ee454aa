package packages

import (
	"encoding/binary"
	"math"
	"os"
	"path"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
)

// byteCode finds what Python compiled and did not write to its end, or lost: it takes such a file for whole where the
// first bytes fit the source (importlib, _classify_pyc), and ends with an EOFError.
func (c *comparison) byteCode(tag string) {
	for dir, names := range c.dirs {
		if !names["__pycache__"] {
			continue
		}
		for _, name := range c.h.Unsorted(dir + "__pycache__") {
			source, compiled := strings.CutSuffix(name, "."+tag+".pyc")
			source, file := dir+source+".py", dir+"__pycache__/"+name
			if compiled && len(c.d.Cut) < sysroot.MaxNamed && names[path.Base(source)] && c.cut(file, source) && machine.Lists(c.record, source[len(c.site):]) {
				c.d.Cut = append(c.d.Cut, text.Printable(file))
			}
		}
	}
	slices.Sort(c.d.Cut)
}

// pycHeader is the length of what stands before the code: the version, flags, the time and the size of the source (PEP 552).
const pycHeader = 16

// cut reports whether byte code that Python would take for that of a source does not end as code does.
func (c *comparison) cut(file, source string) bool {
	code := sysroot.ReadTail(c.h.Real(file), block)
	if endsCode(code) {
		return false
	}
	if code = c.h.Bytes(file, sysroot.MaxFile); len(code) < pycHeader || endsCode(code[pycHeader:]) {
		return false
	}
	i, err := os.Stat(c.h.Real(source))
	number := func(at int) int64 { return int64(binary.LittleEndian.Uint32(code[at:])) }
	return err == nil && (number(4) != 0 || number(8) == i.ModTime().Unix()&math.MaxUint32 && number(12) == i.Size()&math.MaxUint32)
}

// endsCode reports whether marshalled code ends there: its last part is a string of bytes (the table of its exceptions,
// that of its lines before Python 3.11), or a reference to one.
func endsCode(code []byte) bool {
	n := len(code)
	if n >= 5 && code[n-5]&0x7f == 'r' && code[n-1] == 0 {
		return true
	}
	for at := n - 5; at >= 0; at-- {
		if code[at]&0x7f == 's' && int(binary.LittleEndian.Uint32(code[at+1:])) == n-at-5 {
			return true
		}
	}
	return false
}
