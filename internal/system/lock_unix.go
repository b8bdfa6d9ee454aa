//go:build unix

package system

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/say"

	"golang.org/x/sys/unix"
)

// A Lock is held until Release or until the process ends, however it ends.
type Lock struct {
	f *os.File

	root  *os.Root // of the lease; nil: the kernel holds the lock
	lease string
}

// A BusyError says who holds a lock; PID is 0 where that is unknown.
type BusyError struct {
	Path string
	PID  int
	Host string // of the process, where a file stands for a lock; "" it is here
}

func (e *BusyError) Error() string {
	if e.Host == "?" {
		return fmt.Sprintf("nobody knows who wrote %s; remove it when no other envfix works there", e.Path)
	}
	if e.Host != "" {
		return fmt.Sprintf("process %d of %s wrote %s; remove it when nothing works there any more", e.PID, e.Host, e.Path)
	}
	return say.Either(e.PID == 0, e.Path+" is locked by another process", fmt.Sprintf("%s is locked by process %d", e.Path, e.PID))
}

// TryLock takes the lock file name below root, or returns a *BusyError at once.
// Where the file system has no locks, the file NAME.lease stands for one.
func TryLock(root *os.Root, name string) (*Lock, error) {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_RDWR|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	// os.Root follows links that stay within; a lock must be the file itself.
	info, err := f.Stat()
	named, err2 := root.Lstat(name)
	if err := errors.Join(err, err2); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if !info.Mode().IsRegular() || !os.SameFile(info, named) {
		return nil, errors.Join(fmt.Errorf("%s is not a regular file", f.Name()), f.Close())
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		b, _ := io.ReadAll(io.LimitReader(f, 32)) // who holds it is only for the message
		pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
		return nil, errors.Join(&BusyError{Path: f.Name(), PID: pid}, f.Close())
	}
	l := &Lock{f: f}
	if slices.ContainsFunc(noLocks, func(none error) bool { return errors.Is(err, none) }) {
		l.root, l.lease = root, name+".lease"
		err = lease(root, l.lease)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	if err != nil {
		return nil, errors.Join(&fs.PathError{Op: "lock", Path: f.Name(), Err: err}, f.Close())
	}
	if err := errors.Join(f.Truncate(0), writeAt(f, fmt.Sprintln(os.Getpid()))); err != nil {
		return nil, errors.Join(err, l.Release())
	}
	return l, nil
}

// Held reports whether a process holds the lock file name below root, which stays as it is.
func Held(root *os.Root, name string) bool {
	if text, err := root.ReadFile(name + ".lease"); err == nil {
		_, dead := left(text)
		return !dead
	}
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

func writeAt(f *os.File, s string) error {
	_, err := f.WriteAt([]byte(s), 0)
	return err
}

// Release gives the lock back. The file stays: removing it would let two hold it.
func (l *Lock) Release() error {
	if l.root == nil {
		return l.f.Close()
	}
	return errors.Join(l.root.Remove(l.lease), l.f.Close())
}

// Holder returns the process that holds a POSIX lock on path, 0 for none: dpkg
// and rpm lock that way, and flock does not see it.
func Holder(path string) (int, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock); err != nil {
		return 0, &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	if lock.Type == unix.F_UNLCK {
		return 0, nil
	}
	return int(lock.Pid), nil
}

// Free returns how many bytes and how many files more the current user can put
// on the file system of path.
func Free(path string) (size, files uint64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, 0, &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	return uint64(st.Bavail) * uint64(st.Bsize), freeFiles(uint64(st.Files), uint64(st.Ffree)), nil
}

// freeFiles is how many files fit. btrfs and others make inodes as they need them,
// and say that there are none at all.
func freeFiles(all, free uint64) uint64 {
	if all == 0 {
		return math.MaxUint64
	}
	return free
}

// SameDisk reports whether two directories are on one file system.
func SameDisk(a, b string) bool {
	var x, y unix.Stat_t
	return unix.Stat(a, &x) == nil && unix.Stat(b, &y) == nil && x.Dev == y.Dev
}
