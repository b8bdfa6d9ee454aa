package system

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// A Lock is held until Release or until the process ends, however it ends.
type Lock struct{ f *os.File }

// A BusyError says who holds a lock; PID is 0 where that is unknown.
type BusyError struct {
	Path string
	PID  int
}

func (e *BusyError) Error() string { return e.Path + " is locked by another process" }

// TryLock takes the lock file name below root, or returns a *BusyError at once.
func TryLock(root *os.Root, name string) (*Lock, error) {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY)
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return nil, errors.Join(&BusyError{Path: f.Name()}, f.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", f.Name(), err), f.Close())
	}
	return &Lock{f}, nil
}

// Held reports whether a process holds the lock file name below root, which stays as it is.
func Held(root *os.Root, name string) bool {
	f, err := root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

// Release gives the lock back.
func (l *Lock) Release() error { return l.f.Close() }

// Holder returns 0: no package manager locks that way on Windows.
func Holder(string) (int, error) { return 0, nil }

// Free returns how many bytes the current user can put on the file system of
// path.
func Free(path string) (size, files uint64, err error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, 0, err
	}
	if err := windows.GetDiskFreeSpaceEx(p, &size, nil, nil); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", path, err)
	}
	return size, math.MaxUint64, nil
}

// SameDisk reports whether two directories are on one volume.
func SameDisk(a, b string) bool {
	return strings.EqualFold(filepath.VolumeName(a), filepath.VolumeName(b))
}
