package system

import (
	"strconv"
	"strings"
	"syscall"

	"envfix/internal/proc"
)

// dieWithParent has the kernel kill the child when we are killed, so that no
// installer goes on writing after the lock is gone.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// written returns how many bytes the processes of a group have written so far.
func written(group int) (sum int64) {
	for _, pid := range proc.Self.PIDs() {
		p := proc.Self.Of(pid)
		if st, ok := p.Stat(); !ok || st.Group != group {
			continue
		}
		for line := range strings.Lines(p.Read("io")) {
			if n, yes := strings.CutPrefix(line, "wchar: "); yes {
				bytes, _ := strconv.ParseInt(strings.TrimSpace(n), 10, 64)
				sum += bytes
			}
		}
	}
	return sum
}
