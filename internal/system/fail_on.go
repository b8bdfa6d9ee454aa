//go:build failpoints

package system

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Point is where a fault can be injected: ENVFIX_FAILPOINT=name=kind makes the
// point of that name fail as kind says. ENVFIX_FAILPOINT_LIST names a file to
// which every point that is passed is added.
func Point(name string) error {
	if list := os.Getenv("ENVFIX_FAILPOINT_LIST"); list != "" {
		f, err := os.OpenFile(list, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		fmt.Fprintln(f, name)
		f.Close()
	}
	at, kind, _ := strings.Cut(os.Getenv("ENVFIX_FAILPOINT"), "=")
	if at != name {
		return nil
	}
	switch kind {
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal is on its way
	case "sigint":
		return syscall.Kill(os.Getpid(), syscall.SIGINT)
	case "sigterm":
		return syscall.Kill(os.Getpid(), syscall.SIGTERM)
	case "enospc":
		return &os.PathError{Op: "write", Path: name, Err: syscall.ENOSPC}
	case "eio":
		return &os.PathError{Op: "write", Path: name, Err: syscall.EIO}
	}
	return fmt.Errorf("ENVFIX_FAILPOINT: unknown kind %q", kind)
}

// HasPoints reports whether faults can be injected: in the build with the tag failpoints.
const HasPoints = true
