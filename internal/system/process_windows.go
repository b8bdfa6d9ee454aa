package system

import (
	"os"
	"os/exec"
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

// written returns 0: this system does not say what a process wrote.
func written(int) int64 { return 0 }
