//go:build unix

package probe

import "syscall"

// ownerOf is the user that a file belongs to.
func ownerOf(path string) (uid int, ok bool) {
	var st syscall.Stat_t
	if syscall.Stat(path, &st) != nil {
		return 0, false
	}
	return int(st.Uid), true
}
