//go:build unix

package gpu

import (
	"io/fs"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// majorOf is the major number of a device's file; false where it is none.
func majorOf(i fs.FileInfo) (uint64, bool) {
	s, ok := i.Sys().(*syscall.Stat_t)
	if !ok || i.Mode()&fs.ModeCharDevice == 0 {
		return 0, false
	}
	return uint64(unix.Major(uint64(s.Rdev))), true
}

// mayOpen reports whether this user may read and write a file.
func mayOpen(file string) bool { return unix.Access(file, unix.R_OK|unix.W_OK) == nil }

// ownGroup keeps the terminal's Ctrl-C from the child: it ends when its parent
// wants it to, after the job.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
