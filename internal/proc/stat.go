package proc

import (
	"bytes"
	"errors"
	"os"
)

// Ticks is the unit of times in /proc/PID/stat, in a second: USER_HZ, which Linux
// fixes at 100 for programs on every architecture that PyTorch runs on.
const Ticks = 100

// A Stat is what /proc/PID/stat says.
type Stat struct {
	Name    []byte // as the kernel has it: any bytes, and valid as long as the line is
	State   byte   // R running, S asleep, D waits for a disk, T stopped, Z ended, ...
	Parent  int
	Group   int     // of processes, which a terminal signals together
	CPU     float64 // seconds, user and system
	Threads int
	Start   uint64 // ticks since boot: with the PID it names a process
	RSS     int64  // MiB
}

var errStat = errors.New("not a line of /proc/PID/stat")

// ParseStat reads a line of /proc/PID/stat and allocates nothing. The name may
// hold anything, blanks and parentheses included, so it ends at the last
// parenthesis.
func ParseStat(b []byte) (s Stat, err error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return s, errStat
	}
	s.Name = b[open+1 : end]
	var fields [22][]byte // of proc(5), from the third on
	rest := b[end+1:]
	for i := range fields {
		fields[i], rest = Field(rest)
	}
	if len(fields[0]) != 1 {
		return Stat{}, errStat
	}
	whole := true
	number := func(i int) uint64 {
		n, ok := Number(fields[i])
		whole = whole && ok
		return n
	}
	s.State = fields[0][0]
	s.Parent, s.Group, s.Threads, s.Start = int(number(1)), int(number(2)), int(number(17)), number(19)
	s.CPU = float64(number(11)+number(12)) / Ticks
	s.RSS = int64(number(21) / (1 << 20 / uint64(os.Getpagesize())))
	if !whole {
		return Stat{}, errStat
	}
	return s, nil
}

// Field cuts the first word off.
func Field(b []byte) (word, rest []byte) {
	i := 0
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t') {
		i++
	}
	j := i
	for j < len(b) && b[j] != ' ' && b[j] != '\n' && b[j] != '\t' {
		j++
	}
	return b[i:j], b[j:]
}

// Number reads a number of at most 18 digits.
func Number(b []byte) (n uint64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return n, len(b) > 0 && len(b) < 19
}
