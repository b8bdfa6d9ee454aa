package system

import (
	"strconv"
	"strings"
	"syscall"
	"time"

	"envfix/internal/proc"
)

// dieWithParent has the kernel kill the child when we are killed, so that no
// installer goes on writing after the lock is gone.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// did is what the processes of a group have done so far: the bytes that they wrote, those
// that they read, page by page of what they mapped too, and their processor time.
func did(group int) (written, read int64, worked time.Duration) {
	for _, pid := range proc.Self.PIDs() {
		p := proc.Self.Of(pid)
		st, ok := p.Stat()
		if !ok || st.Group != group {
			continue
		}
		worked += time.Duration(st.CPU * float64(time.Second))
		for line := range strings.Lines(p.Read("io")) {
			name, n, _ := strings.Cut(strings.TrimSpace(line), ": ")
			bytes, _ := strconv.ParseInt(n, 10, 64)
			switch name {
			case "wchar":
				written += bytes
			case "rchar", "read_bytes":
				read += bytes
			}
		}
	}
	return written, read, worked
}
