package examine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/probe"
	"envfix/internal/system"
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

// Environments examines every environment of this machine; by is what they are judged by.
func Environments(ctx context.Context, o probe.Options, by read.Case) doctor.Environments {
	whole := probe.Gather(ctx, o)
	places, closed := probe.Places(o)
	told := doctor.Environments{Format: doctor.Format, Environments: make([]doctor.Environment, len(places)), Closed: append([]string{}, closed...)}
	var wait sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, p := range places {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			seen := probe.Inspect(o, whole, p)
			patient := read.FromMachine(seen.Machine)
			patient.Files, patient.Matrix, patient.Devices, patient.Standing = seen.Files, by.Matrix, by.Devices, by.Standing
			var report doctor.Report
			if seen.Torch != nil || seen.Machine.Has("torch") != nil {
				Code(patient)
				report = doctor.Examine(know.Embedded(), patient)
			}
			told.Environments[i] = doctor.EnvironmentOf(seen.Place, patient, seen.Torch, report)
		})
	}
	wait.Wait()
	// One that the driver, or the system, serves.
	told.GPU = slices.ContainsFunc(whole.GPUs, func(g machine.GPU) bool { return g.Visible && !g.Integrated || g.Vendor == machine.Apple })
	return told
}

// Activated reports whether all that a plan does is in the activate script
// already: then it is the shell that does not use it.
func Activated(p *plan.Plan) bool {
	return !slices.ContainsFunc(p.Steps, func(s plan.Step) bool {
		if s.Block == nil {
			return true
		}
		text, err := system.ReadFile(strings.ReplaceAll(s.Block.Path, "{gen}", p.Target.Dir), 1<<20)
		return err != nil || slices.ContainsFunc(s.Block.Lines, func(l string) bool { return !strings.Contains(string(text), l+"\n") })
	})
}
