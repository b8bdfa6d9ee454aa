package system

import (
	"errors"
	"unsafe"

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
	if noQuotas(dir, int64(st.Type)) { // then its statistics say all
		if uint64(bytes) > st.Bavail*uint64(st.Bsize) {
			return unix.ENOSPC
		}
		return nil
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

// noQuotas reports whether the kernel says that nothing on this ext4 or XFS is limited
// by quotas. To reserve gigabytes and to give them back takes it 5 ms, and many times
// that where others write. Q_XGETQSTAT of such a file system fails with ENOSYS where no
// quota is on (fs/quota/quota.c, quota_getstate), as the whole call does before Linux
// 5.14: then it knows no bad descriptor either.
func noQuotas(dir string, kind int64) bool {
	if kind != unix.EXT4_SUPER_MAGIC && kind != unix.XFS_SUPER_MAGIC {
		return false
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return quotaState(fd) == unix.ENOSYS && quotaState(-1) == unix.EBADF
}

// quotaState asks for the state of quotas, which anybody may, and returns how that ended.
func quotaState(fd int) unix.Errno {
	const ofUsers = (uint('X')<<8 + 5) << 8 // QCMD(Q_XGETQSTAT, USRQUOTA)
	var state [128]byte                     // struct fs_quota_stat, 80 bytes
	_, _, err := unix.Syscall6(unix.SYS_QUOTACTL_FD, uintptr(fd), uintptr(ofUsers), 0, uintptr(unsafe.Pointer(&state)), 0, 0)
	return err
}
