package system

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Exchange swaps what two names below root stand for, as one act.
func Exchange(root *os.Root, a, b string) error {
	da, err := root.Open(filepath.Dir(a))
	if err != nil {
		return err
	}
	defer da.Close()
	db, err := root.Open(filepath.Dir(b))
	if err != nil {
		return err
	}
	defer db.Close()
	durable := func() error { return errors.Join(SyncDir(root, filepath.Dir(a)), SyncDir(root, filepath.Dir(b))) }
	if err := durable(); err != nil {
		return err
	}
	if err := Point("exchange"); err != nil {
		return err
	}
	err = unix.Renameat2(int(da.Fd()), filepath.Base(a), int(db.Fd()), filepath.Base(b), unix.RENAME_EXCHANGE)
	if refused(err) {
		return ErrNoExchange
	}
	if err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return durable()
}

// refused reports whether err says that there is no such call here. NFS, overlay on
// some kernels and FUSE answer EINVAL, kernels before 3.15 ENOSYS, and sandboxes that
// do not know the call EPERM; where that means what it says, a rename meets it too.
func refused(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EPERM)
}

// SyncAll makes everything durable that was written to the file system of root.
func SyncAll(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(d.Fd())), d.Close())
}
