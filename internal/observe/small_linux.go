package observe

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Shrink unmaps what the start of this program has read of its own file and of its
// libraries: code and tables that watching does not use. What is used after all comes back from
// the page cache by itself. Only what can not be written, and of which no page
// differs from the file, is let go.
func Shrink() {
	data, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range cleanMappings(string(data)) {
		advise(m, unix.MADV_NOHUGEPAGE)
		for at := m.from; at+piece < m.from+m.size; at += 2 * piece {
			advise(mapping{at, piece}, unix.MADV_DONTDUMP)
		}
		advise(m, unix.MADV_DONTNEED)
	}
}

// piece is the most that one touched byte brings back. Linux 6.18 maps all of a
// file's large page, up to 2 MB where the file was just written, unless it reaches
// beyond its mapping; so mappings are cut into pieces that differ in a flag which
// does nothing here: no core dump holds what is a file's anyway (core(5)).
const piece = 128 << 10

// advise is madvise(2) by addresses. What a kernel does not know stays as it is.
func advise(m mapping, what uintptr) { unix.Syscall(unix.SYS_MADVISE, m.from, m.size, what) }

// A mapping is a part of this process's memory.
type mapping struct{ from, size uintptr }

// cleanMappings picks from the text of smaps (proc_pid_smaps(5)) the parts of files
// that are mapped without the right to write and of which no page was ever changed:
// relocated tables are write-protected too, and are no copies of the file.
func cleanMappings(smaps string) (out []mapping) {
	var m mapping
	var known int // of the two numbers that must be 0
	for line := range strings.Lines(smaps) {
		word := strings.Fields(line)
		switch {
		case len(word) >= 6 && strings.HasPrefix(word[5], "/") && (word[1] == "r-xp" || word[1] == "r--p"):
			m, known = span(word[0]), 0
		case len(word) > 1 && strings.Contains(word[0], "-"):
			m = mapping{}
		case len(word) == 3 && (word[0] == "Anonymous:" || word[0] == "Swap:"):
			if word[1] != "0" {
				m = mapping{}
			}
			if known++; known == 2 && m.size > 0 {
				out = append(out, m)
			}
		}
	}
	return out
}

// span reads FROM-TO in hexadecimal.
func span(s string) mapping {
	from, to, _ := strings.Cut(s, "-")
	a, errA := strconv.ParseUint(from, 16, 64)
	b, errB := strconv.ParseUint(to, 16, 64)
	if errA != nil || errB != nil || b <= a {
		return mapping{}
	}
	return mapping{uintptr(a), uintptr(b - a)}
}
