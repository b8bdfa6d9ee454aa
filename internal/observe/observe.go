// Package observe runs a job unchanged, or looks at one that runs already, and
// records what it does with its GPUs: a verdict.Trace. It looks from outside
// (NVML in a child process, /proc) and, where Python lets it, from inside (a
// small probe that Python's site loads). It judges nothing; package verdict
// does. It never stops or changes a job: where it cannot look, it says so.
package observe

import (
	"errors"
	"syscall"
	"time"
)

// Interval is the time between two looks at the job.
const Interval = 200 * time.Millisecond

// Options says what to run and how closely to look.
type Options struct {
	Command []string
	Env     []string
	State   string // envfix's folder of state, which the probe is kept in; "" none
	Self    string // envfix's own program, for the child that reads NVML; "" none
	NoProbe bool
	Try     string // changed arguments of the DataLoader, as the user wrote them
	Deep    bool
	DieToo  bool // a SIGKILL of envfix, which nothing can catch, ends the command as well
}

// ErrNotFound and ErrNotExecutable are why a command cannot start, as a shell
// tells them apart (127 and 126).
var (
	ErrNotFound      = errors.New("command not found")
	ErrNotExecutable = errors.New("permission denied")
)

// An Ended says how a job ended.
type Ended struct {
	Code   int
	Signal syscall.Signal // that killed it; 0 none
}
