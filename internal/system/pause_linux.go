package system

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
	"unsafe"
)

// A pause has Ctrl-Z on a terminal stop the program with us, and `fg` continue both:
// the program's process group is not the terminal's, so the key reaches us alone.
type pause struct {
	stop, again chan os.Signal
	done        chan struct{}
}

// newPause is called before the program starts: the key may be typed at once. It is
// nil where a program must not be paused, and where the signal was ignored from the
// beginning, as shells without job control have it.
func newPause(wanted bool) *pause {
	if !wanted || signal.Ignored(syscall.SIGTSTP) {
		return nil
	}
	p := &pause{make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan struct{})}
	signal.Notify(p.stop, syscall.SIGTSTP)
	signal.Notify(p.again, syscall.SIGCONT)
	return p
}

// begin watches for the key, once the program runs.
func (p *pause) begin(cmd *exec.Cmd) {
	if p == nil {
		return
	}
	go func() {
		for {
			select {
			case <-p.done:
				return
			case <-p.again: // of a stop that was not the key's
			case <-p.stop:
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGSTOP) // ESRCH: it is gone
				p.stopUs()
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT)
			}
		}
	}()
}

// stopUs stops this process by the kernel's own action, which is none where no shell
// could ever continue it (an orphaned process group, as in a container). Go's handler
// would swallow the signal, also after signal.Reset.
func (p *pause) stopUs() {
	var none, before sigaction
	action(syscall.SIGTSTP, &none, &before)
	_ = syscall.Kill(os.Getpid(), syscall.SIGTSTP)
	select {
	case <-p.again:
	case <-time.After(200 * time.Millisecond):
	}
	action(syscall.SIGTSTP, &before, nil)
}

func (p *pause) end() {
	if p == nil {
		return
	}
	signal.Stop(p.stop)
	signal.Stop(p.again)
	close(p.done)
}

// sigaction is the kernel's structure: handler, flags, restorer, mask; all zero it is
// the default action.
type sigaction [4]uint64

func action(s syscall.Signal, next, before *sigaction) {
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(next)), uintptr(unsafe.Pointer(before)), 8, 0, 0)
}
