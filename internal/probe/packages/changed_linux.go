package packages

import (
	"os"
	"syscall"
	"time"
)

// changed is when a file came to its place or was last written to, which nobody sets (stat(2), st_ctim); zero where
// other names lead to it as well: then each that is made or goes counts, as those of an installer's cache.
func changed(i os.FileInfo) time.Time {
	if s, ok := i.Sys().(*syscall.Stat_t); ok && s.Nlink == 1 {
		return time.Unix(s.Ctim.Unix())
	}
	return time.Time{}
}
