package probe

import (
	"envfix/internal/machine"

	"golang.org/x/sys/unix"
)

// sharedMem asks for the size of /dev/shm; nil: this is another machine's tree, or it
// has none.
func (h *host) sharedMem() *machine.SharedMem {
	var s unix.Statfs_t
	if h.root != "" || unix.Statfs("/dev/shm", &s) != nil || s.Type != unix.TMPFS_MAGIC {
		return nil
	}
	return &machine.SharedMem{Size: int64(s.Blocks) * int64(s.Bsize), Free: int64(s.Bavail) * int64(s.Bsize)}
}

// addresses is the limit on what a process may map; 0: there is none.
func addresses(root string) int64 {
	var l unix.Rlimit
	if root != "" || unix.Getrlimit(unix.RLIMIT_AS, &l) != nil || l.Cur >= 1<<62 {
		return 0
	}
	return int64(l.Cur)
}
