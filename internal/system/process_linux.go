package system

import "syscall"

// dieWithParent has the kernel kill the child when we are killed, so that no
// installer goes on writing after the lock is gone.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
