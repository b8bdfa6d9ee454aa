package platform

import (
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"

	"golang.org/x/sys/unix"
)

// SharedMem asks for the size of /dev/shm; nil: this is another machine's tree, or it
// has none.
func SharedMem(h *sysroot.Host) *machine.SharedMem {
	var s unix.Statfs_t
	if err := unix.Access("/dev/shm", unix.W_OK); h.Root == "" && err != nil {
		return &machine.SharedMem{Fault: err.Error()}
	}
	if h.Root != "" || unix.Statfs("/dev/shm", &s) != nil || s.Type != unix.TMPFS_MAGIC {
		return nil
	}
	return &machine.SharedMem{Size: int64(s.Blocks) * int64(s.Bsize), Free: int64(s.Bavail) * int64(s.Bsize)}
}

// Limits are those that the kernel sets a process of this shell; 0: none, or another machine's.
func Limits(h *sysroot.Host, a *machine.Around) {
	get := func(resource int) int64 {
		var l unix.Rlimit
		if h.Root != "" || unix.Getrlimit(resource, &l) != nil || l.Max >= 1<<62 && l.Cur >= 1<<62 {
			return 0
		}
		if resource == unix.RLIMIT_NOFILE {
			return int64(min(l.Max, 1<<62))
		}
		return int64(min(l.Cur, 1<<62))
	}
	a.Addresses, a.Stack, a.Files = get(unix.RLIMIT_AS), get(unix.RLIMIT_STACK), get(unix.RLIMIT_NOFILE)
	if len(h.Names("/sys/class/infiniband")) > 0 {
		a.Locked = get(unix.RLIMIT_MEMLOCK)
	}
}
