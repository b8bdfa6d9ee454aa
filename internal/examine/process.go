package examine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"envfix/internal/doctor/read"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/probe"
	"envfix/internal/text"
)

// Process is a running process: this machine with the variables, the directory
// and the environment that the process has.
func Process(ctx context.Context, o probe.Options, pid int) (*read.Case, error) {
	o.Use = true
	o, running, err := probe.Process(o, pid)
	if err != nil {
		return nil, unreadProcess(pid, running, err)
	}
	patient := read.FromMachine(probe.Gather(ctx, o))
	patient.Files, patient.Around = probe.EnvFiles(o), probe.Around(o)
	patient.Running = running
	patient.Notes = append(patient.Notes, running.Notes...)
	return patient, nil
}

// unreadProcess says why a process cannot be looked at. r is what could be seen.
func unreadProcess(pid int, r *machine.Running, err error) error {
	e := &fail.Error{Code: fail.Usage, Err: err, Text: fmt.Sprintf("process %d cannot be read: %s", pid, fail.Reason(err))}
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		e.Text = "`--pid` reads /proc, which only Linux has"
		e.Hints = []string{"`envfix doctor` in the terminal that started the program looks at the same environment"}
	case errors.Is(err, syscall.ESRCH):
		e.Text = fmt.Sprintf("process %d has no variables and no libraries: it is the kernel's own, or has just ended", pid)
		e.Hints = []string{"`pgrep -af python` lists the Pythons that run here"}
	case errors.Is(err, fs.ErrNotExist):
		e.Text = fmt.Sprintf("there is no process %d: it has ended, or it is of another container", pid)
		e.Hints = []string{"`pgrep -af python` lists those that run here", "a process of a container has another number inside it"}
	case errors.Is(err, fs.ErrPermission) && r != nil && os.Geteuid() == 0:
		e.Text = fmt.Sprintf("process %d (%s) is closed to you, though you are root: a container or a sandbox keeps it apart", pid, text.Escape(r.Command))
		e.Hints = []string{"`envfix doctor --pid` on the host, or in the container that it runs in"}
	case errors.Is(err, fs.ErrPermission) && r != nil:
		e.Text = fmt.Sprintf("process %d (%s) is of the user %s: its variables and libraries are closed to you", pid, text.Escape(r.Command), text.Escape(r.User))
		e.Hints = []string{fmt.Sprintf("`sudo envfix doctor --pid %d`, or let %s run it", pid, text.Escape(r.User))}
	}
	return e
}

// PID reads the number of a process.
func PID(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 1<<22 { // PID_MAX_LIMIT
		return 0, fail.Wrong("`--pid "+text.Cut(text.Escape(s), 30)+"` is no number of a process",
			"`pgrep -af python` lists them with their numbers")
	}
	return n, nil
}
