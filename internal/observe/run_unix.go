//go:build unix

package observe

import (
	"cmp"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"envfix/internal/observe/verdict"
	"envfix/internal/proc"
	"envfix/internal/text"

	"golang.org/x/sys/unix"
)

// Run starts a command with this process's own terminal, files and process
// group, watches it, and returns what was seen when it ends. The command gets
// what signals it would get without envfix. The error is ErrNotFound or
// ErrNotExecutable when it could not start.
func Run(o Options) (*verdict.Trace, Ended, error) {
	path, err := find(o.Command[0], o.Env)
	if err != nil {
		return nil, Ended{}, err
	}
	var l *lane
	var notes []string
	if !o.NoProbe {
		if l, err = newLane(o); err != nil {
			notes = append(notes, "no folder of your own for the probe, so only the outside was watched: "+text.Clip(strings.ReplaceAll(err.Error(), "\n", "; "), 300))
			l = nil
		} else {
			defer l.remove()
		}
	}
	env := o.Env
	if l != nil {
		env = l.environment(env, o)
	}
	g := startGPUs(o)
	defer g.stop()
	j := newJob() // before the start: the job may be signalled at once
	defer j.release()
	before := killsOf(groupRoot)
	attr := &syscall.ProcAttr{Files: []uintptr{0, 1, 2}, Env: env}
	if o.DieToo {
		attr.Sys = dieToo()
	}
	pid, err := start(path, o.Command, attr)
	if err != nil {
		return nil, Ended{}, err
	}
	j.pid = pid
	go j.wait()
	r := newRecorder(pid, true, l, g, o.Env)
	r.notes, r.before = notes, before
	ended := r.follows(j)
	t := r.Trace()
	t.Command, t.Exit = o.command(), ended.Code
	if ended.Signal != 0 {
		t.Signal = strings.TrimPrefix(unix.SignalName(ended.Signal), "SIG")
	}
	return t, ended, nil
}

// follows watches until the job ends.
func (r *Recorder) follows(j *job) Ended {
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	lines := r.g.lines
	for {
		select {
		case e := <-j.ended:
			return e
		case <-j.stopped:
			j.mirror()
		case s := <-j.signals:
			j.pass(s.(syscall.Signal))
		case l, ok := <-lines:
			if !ok {
				lines = nil
				continue
			}
			r.g.take(l, r.ours, &r.current)
		case now := <-tick.C:
			r.tick(now)
		}
	}
}

// find looks a command up as a shell does.
func find(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, runnable(name)
	}
	err := error(ErrNotFound)
	if name == "" {
		return "", err
	}
	for _, dir := range filepath.SplitList(lookup(env, "PATH")) {
		dir = cmp.Or(dir, ".")
		p := dir + "/" + name
		switch e := runnable(p); e {
		case nil:
			return p, nil
		case ErrNotExecutable:
			err = e
		}
	}
	return "", err
}

func runnable(path string) error {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrPermission):
		return ErrNotExecutable
	case err != nil:
		return ErrNotFound
	case st.IsDir() || unix.Access(path, unix.X_OK) != nil:
		return ErrNotExecutable
	}
	return nil
}

// start runs a program with this process's files. A script without a first
// line that names its interpreter is given to sh, as shells and execvp do.
func start(path string, argv []string, attr *syscall.ProcAttr) (int, error) {
	pid, err := syscall.ForkExec(path, argv, attr)
	if errors.Is(err, syscall.ENOEXEC) {
		pid, err = syscall.ForkExec("/bin/sh", append([]string{"sh", path}, argv[1:]...), attr)
	}
	switch {
	case errors.Is(err, syscall.ENOENT): // a script whose interpreter is not there
		return 0, ErrNotFound
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.ENOEXEC):
		return 0, ErrNotExecutable
	}
	return pid, err
}

// A job is the process that was started, and the signals on their way to it.
type job struct {
	pid     int
	signals chan os.Signal
	ended   chan Ended
	stopped chan struct{}
}

// passed are the signals that envfix hands on. The terminal itself sends INT
// and QUIT to the whole foreground group, and TSTP stops envfix as it stops the
// job. One that was ignored when envfix began (nohup) stays so for both.
var passed = []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGALRM}

func newJob() *job {
	j := &job{signals: make(chan os.Signal, 64), ended: make(chan Ended, 1), stopped: make(chan struct{}, 1)}
	for _, s := range passed {
		if !signal.Ignored(s) {
			signal.Notify(j.signals, s)
		}
	}
	// A closed stderr must not end envfix before it has told how the job ended.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return j
}

func (j *job) release() { signal.Stop(j.signals) }

// wait reports stops, and then the end.
func (j *job) wait() {
	for {
		var ws syscall.WaitStatus
		_, err := syscall.Wait4(j.pid, &ws, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // somebody else waited for it
			j.ended <- Ended{Code: 1}
			return
		case ws.Stopped():
			j.stopped <- struct{}{}
		case ws.Signaled():
			j.ended <- Ended{128 + int(ws.Signal()), ws.Signal()}
			return
		case ws.Exited():
			j.ended <- Ended{Code: ws.ExitStatus()}
			return
		}
	}
}

// foreground reports whether the terminal's keys reach this process group.
func foreground() bool {
	tty, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer unix.Close(tty)
	group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// pass hands a signal on, unless the terminal has done so already.
func (j *job) pass(s syscall.Signal) {
	if (s == syscall.SIGINT || s == syscall.SIGQUIT || s == syscall.SIGCONT) && foreground() {
		return
	}
	unix.Kill(j.pid, s)
}

// mirror stops envfix as its job has stopped, so that the shell above sees what
// it would see without envfix; when the shell continues envfix, the job goes on.
func (j *job) mirror() {
	if !foreground() {
		return
	}
	if st, ok := proc.Self.Of(j.pid).Stat(); !ok || st.State != 'T' {
		return // it goes on already: the terminal stopped and continued both
	}
	unix.Kill(os.Getpid(), syscall.SIGSTOP)
	for got := range j.signals { // the stop takes effect on any thread, at any moment
		if got == syscall.SIGCONT {
			break
		}
		j.pass(got.(syscall.Signal))
	}
	unix.Kill(j.pid, syscall.SIGCONT)
}

// Die ends this process by the signal that ended the job, so that whoever
// started envfix sees what it would see without it. It returns only if that
// is not possible.
func Die(s syscall.Signal) {
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // the core dump, if any, is the job's
	signal.Reset(s)
	defaultAction(s)
	unix.Kill(os.Getpid(), s)
	time.Sleep(100 * time.Millisecond) // the signal arrives on another thread
}
