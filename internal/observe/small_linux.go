package observe

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// shrink unmaps what the start of this program has read of its own file and of its
// libraries: code and tables that watching does not use, of which the kernel maps
// many pages for each one that is touched. What is used after all comes back from
// the page cache by itself. Only what can not be written, and of which no page
// differs from the file, is let go.
func shrink() {
	data, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range cleanMappings(string(data)) {
		// no huge pages: one touched byte would bring 2 MB back
		if _, _, e := unix.Syscall(unix.SYS_MADVISE, m.from, m.size, unix.MADV_NOHUGEPAGE); e == 0 || e == unix.EINVAL {
			unix.Syscall(unix.SYS_MADVISE, m.from, m.size, unix.MADV_DONTNEED)
		}
	}
}

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
