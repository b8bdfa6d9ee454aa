//go:build unix

package system

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// noLocks are the errors of a file system that has no locks: NFS without its lock daemon, and some FUSE.
var noLocks = []error{unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP, unix.ENOTSUP, unix.EINVAL}

// A leaseHolder is who wrote a lease.
type leaseHolder struct {
	host, boot string
	pid        int
}

func (h leaseHolder) String() string { return fmt.Sprintf("%s %s %d\n", h.host, h.boot, h.pid) }

func ourselves() leaseHolder {
	h := leaseHolder{host: "unknown", boot: "unknown", pid: os.Getpid()}
	if name, err := os.Hostname(); err == nil && name != "" {
		h.host = strings.Join(strings.Fields(name), "-")
	}
	if b, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		h.boot = string(bytes.TrimSpace(b))
	}
	return h
}

// lease takes the place of a lock where there are none: a file that only one can
// create. What a process of this machine left that is gone is taken over; what
// another machine left is not, for nobody here knows whether it is gone.
func lease(root *os.Root, name string) error {
	for range 3 {
		err := writeSynced(root, name, []byte(ourselves().String()), 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		text, err := root.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was given back just now
		}
		if err != nil {
			return err
		}
		if holder, dead := left(text); !dead {
			return &BusyError{Path: root.Name() + "/" + name, PID: holder.pid, Host: holder.host}
		}
		if err := takeAway(root, name, text); err != nil {
			return err
		}
	}
	return &BusyError{Path: root.Name() + "/" + name}
}

// left reads a lease and says whether its holder is known to be gone.
func left(text []byte) (h leaseHolder, dead bool) {
	f := strings.Fields(string(text))
	if len(f) != 3 { // half written: by somebody who is about to work, or by a crash
		return leaseHolder{host: "?"}, false
	}
	h.host, h.boot = f[0], f[1]
	h.pid, _ = strconv.Atoi(f[2])
	us := ourselves()
	if h.host != us.host || h.pid <= 0 {
		return h, false
	}
	return h, h.boot != us.boot || errors.Is(unix.Kill(h.pid, 0), unix.ESRCH)
}

// takeAway removes the lease with this text, and no other that took its place.
func takeAway(root *os.Root, name string, text []byte) error {
	aside := name + "." + rand.Text()
	if err := root.Rename(name, aside); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	now, err := root.ReadFile(aside)
	if err == nil && !bytes.Equal(now, text) {
		err = root.Link(aside, name) // somebody's who came before us: put back
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	return errors.Join(err, root.Remove(aside))
}
