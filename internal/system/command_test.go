//go:build linux

package system

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"envfix/internal/testenv"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestMain lets the test binary print its environment: what a child really got.
func TestMain(m *testing.M) {
	if os.Getenv("ENVFIX_TEST_PRINT") != "" {
		for _, kv := range os.Environ() {
			println(kv)
		}
		os.Exit(0)
	}
	testenv.Clean()
	os.Exit(m.Run())
}

// Nothing of a hostile environment reaches a child: neither its variables nor the
// programs that PATH names first.
func TestThreat03HostileEnvironment(t *testing.T) {
	hostile := []string{"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TARGET",
		"PIP_CONFIG_FILE", "PIP_FIND_LINKS", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_CONFIG_FILE", "UV_PYTHON", "CONDA_PREFIX", "CONDARC", "GIT_SSH_COMMAND",
		"GIT_CONFIG_GLOBAL", "BASH_ENV", "ENV", "IFS", "PERL5LIB", "NODE_OPTIONS", "VIRTUAL_ENV", "XDG_CONFIG_HOME", "DISTUTILS_USE_SDK", "SETUPTOOLS_USE_DISTUTILS"}
	for _, name := range hostile {
		t.Setenv(name, "canary-"+name)
	}
	t.Setenv("PATH", t.TempDir()+":.:"+os.Getenv("PATH"))
	t.Setenv("BASH_FUNC_pip%%", "() { canary; }")
	var out strings.Builder
	err := Run(context.Background(), Command{Argv: []string{os.Args[0]}, Env: map[string]string{"ENVFIX_TEST_PRINT": "1"}, Out: &out})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "canary") {
		t.Errorf("a child was given:\n%s", out.String())
	}
	for _, want := range []string{"PIP_CONFIG_FILE=/dev/null", "UV_NO_CONFIG=1", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("a child lacks %s:\n%s", want, out.String())
		}
	}
}

// A proxy that is named in capitals alone reaches apt and curl, which read http_proxy in
// small letters; what is set in small letters stays as it is, an empty one too.
func TestProxyNames(t *testing.T) {
	env := Environment([]string{"http_proxy=", "HTTP_PROXY=http://a:1", "HTTPS_PROXY=http://b:2", "NO_PROXY=c", "no_proxy=d"}, nil)
	for _, want := range []string{"http_proxy=", "HTTP_PROXY=http://a:1", "https_proxy=http://b:2", "no_proxy=d", "NO_PROXY=c"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is not among %q", want, env)
		}
	}
}

// A program with root's rights has root's home, and reads no file that a variable of
// the caller's leads to: zypper has a ~/.zypper.conf.
func TestThreat11RootsHome(t *testing.T) {
	for _, name := range homely {
		t.Setenv(name, "/home/canary")
	}
	c := Command{Argv: []string{"true"}, Root: true}
	for _, kv := range c.prepare(context.Background(), "/bin/true", nil).Env {
		if strings.Contains(kv, "canary") || strings.HasPrefix(kv, "HOME=") && kv != "HOME=/root" && !strings.Contains(kv, "root") {
			t.Errorf("root's program was given %s", kv)
		}
	}
}

// A program is the system's own or one that is named whole; what PATH offers
// first, the working directory, and what others could exchange is never run.
func TestThreat02PathHijack(t *testing.T) {
	fake := t.TempDir()
	for _, name := range []string{"pip", "uv", "nvidia-smi", "apt-get", "python3", "sudo", "ls", "envfix-no-such"} {
		if err := os.WriteFile(filepath.Join(fake, name), []byte("#!/bin/sh\necho hijacked\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", fake+":.:"+os.Getenv("PATH"))
	t.Chdir(fake)
	if got, err := Resolve([]string{"ls"}, true); err != nil || strings.HasPrefix(got, fake) {
		t.Errorf("ls: %q, %v", got, err)
	}
	for _, argv := range [][]string{{"envfix-no-such"}, {"./pip"}, {"../" + filepath.Base(fake) + "/pip"}, {}, {""}, {"ls", "a\x00b"}} {
		if got, err := Resolve(argv, false); err == nil {
			t.Errorf("%q resolves to %q", argv, got)
		}
	}
	if got, err := Resolve([]string{filepath.Join(fake, "sudo")}, true); err == nil && os.Geteuid() != 0 {
		t.Errorf("root would run %q, which a user owns", got)
	}
	loose := filepath.Join(fake, "loose")
	if err := errors.Join(os.WriteFile(loose, []byte("#!/bin/sh\n"), 0o755), os.Chmod(loose, 0o777)); err != nil {
		t.Fatal(err)
	}
	if got, err := Resolve([]string{loose}, true); err == nil {
		t.Errorf("root would run %q, which everybody may write", got)
	}
}

func TestExitError(t *testing.T) {
	err := Run(context.Background(), Command{Argv: []string{"sh", "-c", "echo one; echo two >&2; exit 3"}})
	var exit *ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("got %v", err)
	}
	exit.Err = nil
	want := &ExitError{Argv: exit.Argv, Code: 3, Tail: exit.Tail}
	if diff := cmp.Diff(want, exit); diff != "" || len(exit.Tail) != 2 {
		t.Errorf("exit error (-want +got):\n%s\n%q", diff, exit.Tail)
	}
	if got, want := exit.Error(), "sh exited with status 3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	err = Run(context.Background(), Command{Argv: []string{"sh", "-c", "kill -KILL $$"}})
	if got, want := err.Error(), "sh was ended by killed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An interrupt reaches the whole group: what the program started is gone too.
func TestInterruptReachesTheGroup(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(context.Background())
	script := "trap '' INT; (trap '' INT; exec sleep 600) & echo $! > " + pidFile + "; echo ready; wait"
	started := writer(func(b []byte) {
		if strings.Contains(string(b), "ready") {
			cancel()
		}
	})
	err := Run(ctx, Command{Argv: []string{"sh", "-c", script}, Out: started, Grace: 10 * time.Millisecond})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	b, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	gone(t, pid)
}

// A second Ctrl-C does not wait for what ignores the first.
func TestSecondInterrupt(t *testing.T) {
	guard := make(chan os.Signal, 1) // or a signal that comes too early would end the test
	signal.Notify(guard, os.Interrupt)
	defer signal.Stop(guard)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- Run(ctx, Command{Argv: []string{"sh", "-c", "trap '' INT; sleep 600; sleep 600"}, Grace: time.Hour, Started: func() error { cancel(); return nil }})
	}()
	for {
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			<-guard // the last signal may be under way still
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			return
		case <-guard: // not heard yet, perhaps
		}
	}
}

// gone waits until a process has ended; one that never does fails the test.
func gone(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 10_000); err != nil || n != 1 {
		t.Errorf("process %d lives: %d, %v", pid, n, err)
	}
}

// A patient program is not interrupted: dpkg would be left half-way.
func TestPatient(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	done := filepath.Join(t.TempDir(), "done")
	out := writer(func(b []byte) { cancel() })
	err := Run(ctx, Command{Argv: []string{"sh", "-c", "echo begun; touch " + done}, Patient: true, Out: out})
	if err != nil {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(done); err != nil {
		t.Error("it was interrupted")
	}
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

// A program that leaves a daemon behind which holds its output does not hold us.
func TestDaemonKeepsTheOutput(t *testing.T) {
	err := Run(context.Background(), Command{Argv: []string{"sh", "-c", "sleep 600 & echo done"}, Grace: 50 * time.Millisecond})
	if err != nil {
		t.Errorf("got %v", err)
	}
}

// A secret is in no log, no output and no error, wherever it stands.
func TestThreat13Secrets(t *testing.T) {
	const secret = "s3cr3t-canary"
	t.Setenv("INDEX_TOKEN", secret)
	t.Setenv("HTTPS_PROXY", "http://me:"+secret+"@proxy.example:3128")
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	log, err := OpenLog(dir, "log")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	talk := "printf 'Looking in https://me:other-canary@index.example/simple\\npassword=third-canary\\n" +
		"Authorization: Basic fourth-canary\\nhalf of s3cr3t-'; printf 'canary\\n'; exit 1"
	err = Run(context.Background(), Command{Argv: []string{"sh", "-c", talk}, Out: &out, Log: log})
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	kept, readErr := dir.ReadFile("log")
	info, statErr := dir.Stat("log")
	if readErr != nil || statErr != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("log: mode %v, %v, %v", info.Mode(), readErr, statErr)
	}
	var exit *ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("got %v", err)
	}
	for where, text := range map[string]string{"output": out.String(), "log": string(kept), "error": exit.Error() + strings.Join(exit.Tail, "\n")} {
		if strings.Contains(text, "canary") {
			t.Errorf("%s holds a secret:\n%s", where, text)
		}
	}
	if !strings.Contains(string(kept), "index.example/simple") {
		t.Errorf("the log lost what was no secret:\n%s", kept)
	}
}

// A gigabyte of output is cut in the log and costs no memory.
func TestLogEnds(t *testing.T) {
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	log, err := OpenLog(dir, "log")
	if err != nil {
		t.Fatal(err)
	}
	log.left = 100
	for range 50 {
		log.Line("twenty characters..")
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := dir.ReadFile("log"); err != nil || len(b) > 200 || !strings.Contains(string(b), "cut off") {
		t.Errorf("log of %d bytes, %v:\n%s", len(b), err, b)
	}
}

// When envfix is killed, what it runs is killed with it.
func TestChildDiesWithUs(t *testing.T) {
	if exe, err := exec.LookPath("true"); err != nil {
		t.Skipf("no program to run: %v", err)
	} else if _, err := Resolve([]string{exe}, false); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("true")
	group(c, Command{})
	if c.SysProcAttr.Pdeathsig == 0 || !c.SysProcAttr.Setpgid {
		t.Errorf("attributes: %+v", c.SysProcAttr)
	}
}

// A line without an end is passed on in pieces, and nothing of it is lost.
func TestLongLine(t *testing.T) {
	var out strings.Builder
	l := &lines{out: &out}
	for range 3 {
		if _, err := l.Write([]byte(strings.Repeat("0123456789abcdef", longLine/16))); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	if got := len(strings.ReplaceAll(out.String(), "\n", "")); got != 3*longLine {
		t.Errorf("%d of %d characters arrived", got, 3*longLine)
	}
}

// late is a context that ended, and hears of it at the second question only.
type late struct {
	context.Context
	asked bool
}

func (l *late) Err() error {
	if !l.asked {
		l.asked = true
		return nil
	}
	return l.Context.Err()
}

// A program that is interrupted while it is being started was interrupted, and is not one
// that cannot be started.
func TestInterruptedAtTheStart(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	err := Run(&late{Context: ended}, Command{Argv: []string{"true"}})
	var start *StartError
	if !errors.Is(err, context.Canceled) || errors.As(err, &start) {
		t.Errorf("%T %v", err, err)
	}
}
