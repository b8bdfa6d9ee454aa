package loader

import "golang.org/x/sys/unix"

// noExec reports whether a file lies on a file system from which nothing may be executed,
// and so no library mapped (mount(8), noexec).
func noExec(file string) bool {
	var s unix.Statfs_t
	return unix.Statfs(file, &s) == nil && s.Flags&unix.ST_NOEXEC != 0
}
