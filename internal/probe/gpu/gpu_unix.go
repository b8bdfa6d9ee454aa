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

// majorOf is the major number of a device's file; false where it is none.
func majorOf(i fs.FileInfo) (uint64, bool) {
	s, ok := i.Sys().(*syscall.Stat_t)
	if !ok || i.Mode()&fs.ModeCharDevice == 0 {
		return 0, false
	}
	return uint64(unix.Major(uint64(s.Rdev))), true
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
