//go:build linux

package system

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A process of the test that runs a program and can be stopped.
func TestPausedProgram(t *testing.T) {
	if os.Getenv("ENVFIX_PAUSE") == "" {
		t.Skip("TestCtrlZ runs it")
	}
	script := `echo child $$ >/dev/tty; exec cat ` + os.Getenv("ENVFIX_PAUSE")
	if err := Run(context.Background(), Command{Argv: []string{"/bin/sh", "-c", script}}); err != nil {
		t.Error(err)
	}
}

// Ctrl-Z on a terminal stops the program with us, its group too; `fg` continues both,
// and the terminal is as it was.
func TestCtrlZ(t *testing.T) {
	ours, theirs := pseudoTerminal(t)
	mark := t.TempDir() + "/go"
	script := fmt.Sprintf(`set -m; before=$(stty -g); %s -test.run '^TestPausedProgram$' >/dev/null; echo "status $?."; read x; fg >/dev/null; echo "ended $?."
[ "$before" = "$(stty -g)" ] && echo "terminal as before."`, os.Args[0])
	if err := unix.Mkfifo(mark, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Env = append(os.Environ(), "ENVFIX_PAUSE="+mark)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	until := func(form string) string {
		t.Helper()
		for buf := make([]byte, 1024); ; {
			if m := regexp.MustCompile(form).FindStringSubmatch(said.String()); m != nil {
				return m[len(m)-1]
			}
			n, err := ours.Read(buf)
			if err != nil {
				t.Fatalf("%v before %s was said: %q", err, form, said.String())
			}
			said.Write(buf[:n])
		}
	}
	child := until(`child (\d+)\r?\n`)
	if _, err := ours.Write([]byte{26}); err != nil { // Ctrl-Z
		t.Fatal(err)
	}
	if got := until(`status (\d+)\.`); got != fmt.Sprint(128+int(syscall.SIGTSTP)) {
		t.Errorf("the shell sees %s", got)
	}
	stopped := func() bool {
		stat, err := os.ReadFile("/proc/" + child + "/stat")
		return err == nil && strings.Contains(string(stat), ") T ")
	}
	for until := time.Now().Add(10 * time.Second); !stopped(); time.Sleep(time.Millisecond) { // a signal takes a moment
		if time.Now().After(until) {
			t.Fatal("the program goes on")
		}
	}
	if _, err := ours.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil { // opens when the program reads
		t.Fatal(err)
	}
	if got := until(`ended (\d+)\.`); got != "0" {
		t.Errorf("it ended with %s", got)
	}
	until(`terminal as before\.`)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// pseudoTerminal opens a terminal: our end, and the one that a program takes.
func pseudoTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	ours = os.NewFile(uintptr(fd), "terminal")
	last := time.AfterFunc(30*time.Second, func() { ours.Close() }) // what never comes fails the test
	t.Cleanup(func() { last.Stop(); ours.Close() })
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	t.Cleanup(func() { theirs.Close() })
	return ours, theirs
}
