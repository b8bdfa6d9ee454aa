package system

import (
	"os"
	"os/exec"
	"time"
)

func group(cmd *exec.Cmd, c Command) {
	if c.Patient {
		return
	}
	cmd.Cancel = func() error { return cmd.Process.Kill() }
}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // already gone is what was wanted

func signalName(*os.ProcessState) string { return "" }

// Umask does nothing: Windows has none.
func Umask() {}

// did returns 0: this system does not say what a process did.
func did(int) (written, read int64, worked time.Duration) { return 0, 0, 0 }
