package observe

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"envfix/internal/observe/verdict"
)

// Run starts a command and waits for it. On Windows neither lane exists yet:
// the trace holds the command's end and a note.
func Run(o Options) (*verdict.Trace, Ended, error) {
	path, err := exec.LookPath(o.Command[0])
	if err != nil {
		return nil, Ended{}, ErrNotFound
	}
	keys := make(chan os.Signal, 8)
	signal.Notify(keys, os.Interrupt) // the console sends it to the job too
	defer signal.Stop(keys)
	cmd := exec.Command(path, o.Command[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = o.Env, os.Stdin, os.Stdout, os.Stderr
	begun := time.Now()
	err = cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return nil, Ended{}, ErrNotExecutable
	}
	e := Ended{Code: cmd.ProcessState.ExitCode()}
	t := &verdict.Trace{Format: verdict.Format, Command: o.command(),
		Seconds: time.Since(begun).Seconds(), Exit: e.Code,
		GPUs: []verdict.GPU{}, Frames: []verdict.Frame{}, Processes: []verdict.Process{}, Notes: []string{"jobs cannot be watched on Windows yet"}}
	t.Host.OtherGPU = "unknown"
	return t, e, nil
}

// Die does nothing: Windows knows no signals.
func Die(syscall.Signal) {}
