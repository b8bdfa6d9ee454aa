//go:build unix

package proc

import "syscall"

// Owner is the number of the user that a file or a process's folder belongs to.
func Owner(path string) (uid int, ok bool) {
	var st syscall.Stat_t
	if syscall.Stat(path, &st) != nil {
		return 0, false
	}
	return int(st.Uid), true
}
