package system

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Reserve asks the file system of dir whether it would give so many bytes to the
// current user, and gives them back at once: a quota is in no statistics. A file
// system that cannot say so has no objection. Its error is the file system's.
func Reserve(dir string, bytes int64) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil || bytes <= 0 || st.Type == unix.TMPFS_MAGIC {
		return nil // tmpfs would fill the memory; its statistics are its quota
	}
	// A file without a name is gone however we end.
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	err = unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, 0, bytes)
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return err
	}
	return nil
}
