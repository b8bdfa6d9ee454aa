//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// terminal opens a pseudo-terminal: our end, and the one that a program takes.
func terminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	t.Cleanup(func() { ours.Close() })
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	t.Cleanup(func() { theirs.Close() })
	return ours, theirs
}

// onTerminal starts a job under `envfix run`, which leads the terminal's session.
func onTerminal(t *testing.T, script string) (*exec.Cmd, *os.File) {
	t.Helper()
	ours, theirs := terminal(t)
	cmd := envfixCommand(t, nil, "run", "--", "sh", "-c", script)
	cmd.Stdin, cmd.Stdout = theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, ours
}

// until reads from a terminal until it has said something.
func until(t *testing.T, tty *os.File, said string) {
	t.Helper()
	var all bytes.Buffer
	buf := make([]byte, 1024)
	for !strings.Contains(all.String(), said) {
		n, err := tty.Read(buf)
		if err != nil {
			t.Fatalf("%v before %q was said: %q", err, said, all.String())
		}
		all.Write(buf[:n])
	}
}

// TestRunKeys: Ctrl-C reaches the job once each time it is typed, and the job
// decides; a job that stops stops envfix too, and goes on with it.
func TestRunKeys(t *testing.T) {
	t.Run("Ctrl-C once and twice", func(t *testing.T) {
		t.Parallel()
		cmd, tty := onTerminal(t, `n=0; trap 'n=$((n+1)); echo "caught $n."; [ $n = 2 ] && exit 7' INT; echo ready; while :; do sleep 0.05; done`)
		until(t, tty, "ready")
		for _, said := range []string{"caught 1.", "caught 2."} {
			tty.Write([]byte{3})
			until(t, tty, said)
		}
		cmd.Wait()
		if c := cmd.ProcessState.ExitCode(); c != 7 {
			t.Errorf("code %d", c)
		}
	})
	t.Run("Ctrl-C ends a job that takes no care", func(t *testing.T) {
		t.Parallel()
		cmd, tty := onTerminal(t, `echo ready; while :; do sleep 0.05; done`)
		until(t, tty, "ready")
		tty.Write([]byte{3})
		cmd.Wait()
		if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != syscall.SIGINT {
			t.Errorf("%v", cmd.ProcessState)
		}
	})
	t.Run("stops", func(t *testing.T) {
		t.Parallel()
		cmd, tty := onTerminal(t, `echo ready; kill -STOP $$; echo went on; exit 8`)
		until(t, tty, "ready")
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
			if strings.Contains(string(text), ") T ") {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("envfix did not stop: %s", text)
			}
		}
		cmd.Process.Signal(syscall.SIGCONT)
		until(t, tty, "went on")
		cmd.Wait()
		if c := cmd.ProcessState.ExitCode(); c != 8 {
			t.Errorf("code %d", c)
		}
	})
}

// TestRunPlaces runs a job as another user, without /proc, and where every folder
// for the probe is full: its output and code are its own.
func TestRunPlaces(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounts and other users need root")
	}
	full, program := t.TempDir(), programIn(t, "/var") // not in a folder that is made full
	tests := []struct{ name, before, job string }{
		{"another user", ":", "exec setpriv --reuid=65534 --regid=65534 --clear-groups /usr/bin/python3 -c 'print(5); raise SystemExit(6)'"},
		{"no /proc", "mount -t tmpfs none /proc", "echo 5; exit 6"},
		{"full folders", "for d in " + full + " /var/tmp /tmp; do mount -t tmpfs -o size=8k none $d || exit 99; done", "echo 5; exit 6"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, needed := range []string{"/usr/bin/setpriv", "/usr/bin/python3"} {
				if _, err := os.Stat(needed); err != nil && strings.Contains(tt.job, needed) {
					t.Skip(err)
				}
			}
			cmd := exec.Command("unshare", "-m", "sh", "-c", "{ "+tt.before+"\n} || exit 99; exec "+program+` run -- sh -c "$0"`, tt.job)
			cmd.Env = append(os.Environ(), "ENVFIX_NVML=off", "XDG_STATE_HOME="+full, "XDG_RUNTIME_DIR=")
			o := outcomeOf(t, cmd, "")
			if o.Code == 99 || strings.Contains(o.Stderr, "unshare failed") {
				t.Skipf("no mount can be made here: %s", o.Stderr)
			}
			if diff := cmp.Diff(outcome{Stdout: "5\n", Code: 6}, o); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// programIn copies this test binary, as envfix, into a new folder.
func programIn(t *testing.T, parent string) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent, "envfix-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "envfix")
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return program
}

// TestWatchVerdict: a job that is watched with --pid has a verdict when it ends.
func TestWatchVerdict(t *testing.T) {
	job := exec.Command("sleep", "3")
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	go job.Wait()
	cmd := envfixCommand(t, nil, "watch", "--pid", fmt.Sprint(job.Process.Pid))
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil || !strings.Contains(stderr.String(), "envfix: no_gpu: ") {
		t.Errorf("%v\n%s%s", err, &out, &stderr)
	}
}
