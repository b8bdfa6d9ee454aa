//go:build unix

package system

import (
	"os"
	"os/exec"
	"syscall"
)

// group puts the program into a process group of its own and has an interrupt
// sent to all of it.
func group(cmd *exec.Cmd, c Command) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.Patient {
		return // Ctrl-C reaches our group, not its; a new session would lose sudo's leave
	}
	dieWithParent(cmd.SysProcAttr)
	cmd.Cancel = func() error {
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
	}
}

func killGroup(cmd *exec.Cmd) {
	// ESRCH: the group is empty, which is what was wanted.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}

func signalName(s *os.ProcessState) string {
	if w, yes := s.Sys().(syscall.WaitStatus); yes && w.Signaled() {
		return w.Signal().String()
	}
	return ""
}

// Umask makes the umask one with which an environment can be built and nobody
// else can write into it: the owner's bits are allowed, the others' writing is
// not.
func Umask() {
	old := syscall.Umask(0o022)
	syscall.Umask(old&^0o700 | 0o002)
}
