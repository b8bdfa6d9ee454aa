// Package system acts on the machine: it starts programs, writes files, renames
// and locks. It decides nothing, and it runs nothing but what it is given; no
// shell is ever involved.
package system

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"envfix/internal/say"
	"envfix/internal/text"
)

// A Command is one program to run.
type Command struct {
	Argv    []string          // Argv[0] is resolved by [Resolve]
	Env     map[string]string // on top of [Environment]
	Dir     string
	Stdin   []byte        // nil: nothing to read
	Root    bool          // runs with root's rights: only system tools, never another PATH
	Patient bool          // never interrupted: dpkg and rpm leave a broken system behind
	Second  bool          // it runs beside another, and Ctrl-Z stops that one alone
	Grace   time.Duration // between the interrupt and the kill; 0 means 5 s
	Out     io.Writer     // gets each line, redacted and without control characters; may be nil
	Log     *Log          // gets the same; may be nil
	Raw     io.Writer     // gets the standard output as it is; may be nil
	Draws   uint16        // columns of a terminal that it draws on how far it is, which Out alone gets; 0: none
	Quiet   bool          // for the caller: the output is not for people
	Started func() error  // called once the program runs; its error kills the program

	// Stall ends a program that is not patient and makes no progress for so long: it
	// prints nothing, writes nothing, and nothing grows below Grows. 0: never.
	Stall time.Duration
	Grows []string
	Work  time.Duration // not 0: what it reads and computes is progress too, until it had so much processor time

	Made func(*exec.Cmd) // may give it another environment and take its output; nil: nothing of that
}

// An Owner is the user who started us with sudo.
type Owner struct {
	UID, GID uint32
	Groups   []uint32 // further ones
	Home     string
	Name     string
}

// An ExitError says how a program ended that did not succeed.
type ExitError struct {
	Argv []string
	Code int      // exit status; -1: killed by a signal
	By   string   // the signal's name, "" for none
	Tail []string // the last lines of its output
	Err  error
}

func (e *ExitError) Error() string {
	name := filepath.Base(e.Argv[0])
	return say.Either(e.By != "", fmt.Sprintf("%s was ended by %s", name, e.By), fmt.Sprintf("%s exited with status %d", name, e.Code))
}

func (e *ExitError) Unwrap() error { return e.Err }

// A StartError says that a program could not be started at all.
type StartError struct {
	Path string
	Err  error // the system's
}

func (e *StartError) Error() string { return fmt.Sprintf("%s cannot be started: %v", e.Path, e.Err) }
func (e *StartError) Unwrap() error { return e.Err }

// bare is the system's error without the path, which is named once.
func bare(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// A StallError says that a program was ended because it made no progress.
type StallError struct {
	Argv  []string
	After time.Duration
	Tail  []string // the last lines of its output
}

func (e *StallError) Error() string {
	return fmt.Sprintf("%s made no progress for %v and was ended", filepath.Base(e.Argv[0]), e.After)
}

// Run runs c to its end. When ctx ends first, the program's whole process group
// gets SIGINT and, after the grace time or a second interrupt, SIGKILL; the error
// is then ctx's cause. A program that ran and failed gives an *ExitError, one that
// stalled a *StallError.
func Run(ctx context.Context, c Command) error {
	path, err := Resolve(c.Argv, c.Root)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	out := &lines{out: c.Out, log: c.Log, secrets: text.Secrets(slices.Concat(os.Environ(), os.Args))}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := c.prepare(ctx, path, out)
	ended := func() {}
	if c.Draws > 0 {
		ended = out.terminal(cmd, c.Draws)
	}
	defer ended()

	// Pdeathsig fires when the thread that started the child ends, not the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pause := newPause(!c.Patient && !c.Second) // before the start: the key may be typed at once
	defer pause.end()
	if err := cmd.Start(); ctx.Err() != nil && errors.Is(err, ctx.Err()) { // interrupted before the start
		return context.Cause(ctx)
	} else if err != nil {
		return &StartError{Path: path, Err: bare(err)}
	}
	stopHurry := func() {}
	if !c.Patient {
		stopHurry = hurry(ctx, cmd)
	}
	pause.begin(cmd)
	if c.Stall > 0 && !c.Patient {
		go c.watch(ctx, cmd.Process.Pid, out, cancel)
	}
	var broken error
	if c.Started != nil {
		if broken = c.Started(); broken != nil {
			killGroup(cmd)
		}
	}
	err = cmd.Wait()
	stopHurry()
	if !c.Patient {
		killGroup(cmd) // nothing that it started outlives it
	}
	ended()
	out.Close()
	if broken != nil {
		return broken
	}
	return c.ended(ctx, err, out)
}

// ended says what a program's end means, given how waiting for it ended.
func (c Command) ended(ctx context.Context, err error, out *lines) error {
	var stalled *StallError
	switch {
	case errors.As(context.Cause(ctx), &stalled): // whatever it exits with
		stalled.Tail = out.Tail()
		return stalled
	case err != nil && ctx.Err() != nil && !c.Patient:
		return context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay):
		return nil // it succeeded; something else kept the pipe open
	case err != nil:
		return exitError(c.Argv, err, out.Tail())
	}
	return nil
}

// prepare makes the process of c that will run the program at path.
func (c Command) prepare(ctx context.Context, path string, out io.Writer) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, c.Argv[1:]...)
	if c.Patient {
		cmd = exec.Command(path, c.Argv[1:]...)
	}
	cmd.Args = c.Argv // as planned: not the path that was found for it
	ours := say.Either(c.Root, ForRoot(os.Environ()), os.Environ())
	cmd.Env = Environment(ours, c.Env)
	cmd.Dir = c.Dir
	if c.Stdin != nil { // else /dev/null: an installer that asks would wait for ever
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	cmd.Stdout, cmd.Stderr = out, out
	if c.Raw != nil {
		cmd.Stdout = io.MultiWriter(out, c.Raw)
	}
	cmd.WaitDelay = cmp.Or(c.Grace, 5*time.Second) // also ends the wait for a daemon that kept our pipe
	group(cmd, c)
	if c.Made != nil {
		c.Made(cmd)
	}
	return cmd
}

// hurry kills the group at the second interrupt: the first ended ctx. The
// returned function must be called when the program is gone.
func hurry(ctx context.Context, cmd *exec.Cmd) func() {
	done := make(chan struct{})
	go func() {
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt)
		defer signal.Stop(again)
		select {
		case <-done:
		case <-again:
			killGroup(cmd)
		}
	}()
	return func() { close(done) }
}

func exitError(argv []string, err error, tail []string) error {
	e := &ExitError{Argv: argv, Code: -1, Tail: tail, Err: err}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		e.Code = exit.ExitCode()
		e.By = signalName(exit.ProcessState)
	}
	return e
}

// Directories of the system's own programs. Nothing else is searched, so that a
// program planted earlier in PATH is never run.
var systemDirs = []string{"/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// Resolve returns the program that argv names, as an absolute path. A bare name
// is looked up in the system's own directories and nowhere else. For root, the
// file and every directory above it must belong to root and be writable to root
// alone.
func Resolve(argv []string, root bool) (string, error) {
	if len(argv) == 0 || argv[0] == "" {
		return "", errors.New("a command without a program")
	}
	for _, a := range argv {
		if strings.ContainsRune(a, 0) {
			return "", fmt.Errorf("an argument of %s holds a NUL byte", filepath.Base(argv[0]))
		}
	}
	path := argv[0]
	switch {
	case filepath.IsAbs(path):
	case strings.ContainsRune(path, '/'):
		return "", fmt.Errorf("%s: a program is named by an absolute path or by its name alone", path)
	default:
		found, err := lookup(path)
		if err != nil {
			return "", err
		}
		path = found
	}
	if root {
		if err := onlyRootWrites(path); err != nil {
			return "", err
		}
	}
	return path, nil
}

func lookup(name string) (string, error) {
	if runtime.GOOS == "windows" {
		return exec.LookPath(name) // Go refuses what the current directory offers
	}
	for _, dir := range systemDirs {
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", fmt.Errorf("%s is not in %s", name, strings.Join(systemDirs, ", "))
}
