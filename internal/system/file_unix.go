//go:build unix

package system

import (
	"io/fs"
	"syscall"
)

const (
	nofollow = syscall.O_NOFOLLOW
	nonblock = syscall.O_NONBLOCK
)

// Frees is how many bytes are free again where files are removed, asked once for each of
// them: those of a file whose every name was seen.
func Frees(info fs.FileInfo, names map[any]int) int64 {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.Size()
	}
	file := [2]uint64{uint64(s.Dev), s.Ino}
	if names[file]++; names[file] < int(s.Nlink) {
		return 0
	}
	return s.Blocks * 512
}
