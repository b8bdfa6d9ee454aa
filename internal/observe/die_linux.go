package observe

import (
	"runtime"
	"syscall"
	"unsafe"
)

// defaultAction gives a signal back to the kernel. The Go runtime's own handler
// would print a trace of envfix for those that mean a crash.
func defaultAction(s syscall.Signal) {
	var none [4]uint64 // struct sigaction: SIG_DFL, no flags, no restorer, no mask
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&none)), 0, 8, 0, 0)
}

// dieToo has the kernel kill the next child when this process is gone. The kernel
// goes by the thread that starts it, so that one is kept.
func dieToo() *syscall.SysProcAttr {
	runtime.LockOSThread()
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
