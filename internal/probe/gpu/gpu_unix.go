//go:build unix

package gpu

import (
	"io/fs"
	"os/exec"
	"runtime"
	"syscall"

	"envfix/internal/machine"

	"golang.org/x/sys/unix"
)

// numbersOf are the major and minor numbers of a device's file; false where it is none.
func numbersOf(i fs.FileInfo) (major, minor uint64, ok bool) {
	s, ok := i.Sys().(*syscall.Stat_t)
	if !ok || i.Mode()&fs.ModeCharDevice == 0 {
		return 0, 0, false
	}
	return uint64(unix.Major(uint64(s.Rdev))), uint64(unix.Minor(uint64(s.Rdev))), true
}

// closed says why a device may not be opened, without opening it, which would start the GPU;
// "" it may (access(2); statfs(2), ST_NODEV).
func closed(file string) string {
	var s unix.Statfs_t
	switch {
	case unix.Access(file, unix.R_OK|unix.W_OK) != nil:
		return machine.NodeClosed
	case runtime.GOOS == "linux" && unix.Statfs(file, &s) == nil && s.Flags&4 != 0:
		return machine.NodeNoDev
	}
	return ""
}

// ownGroup keeps the terminal's Ctrl-C from the child: it ends when its parent
// wants it to, after the job.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
