package loader

import "syscall"

// NotExecutable reports whether a file lies on a file system from which nothing may be executed,
// and so no library mapped (mount(8), noexec; statfs(2), ST_NOEXEC).
func NotExecutable(file string) bool {
	var s syscall.Statfs_t
	return syscall.Statfs(file, &s) == nil && s.Flags&8 != 0
}

// NotWritable reports whether this user may not write to a directory (access(2), W_OK).
func NotWritable(dir string) bool { return syscall.Access(dir, 2) != nil }
