//go:build linux

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slowApt is a package manager that needs a while, and prints; what it has begun it
// writes down, and that it came to its end.
const slowApt = `#!/bin/sh
case " $* " in *" --simulate "*) echo "Inst nvidia-open (1 x [amd64])"; exit 0 ;; esac
echo unpacking
echo begun >STATE
for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; echo "line $i"; done
echo ended >>STATE
`

// Who started root's half may be killed, and the terminal may go away: the package
// manager's work is done to its end.
func TestE2EThreat11RootGoesOn(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("it runs root's half: `make e2e` does")
	}
	if os.Geteuid() != 0 || exec.Command("unshare", "-m", "true").Run() != nil {
		t.Skip("root and a mount namespace are needed: a package manager is put over the machine's")
	}
	real, err := filepath.EvalSymlinks("/usr/bin/apt-get")
	if err != nil {
		t.Skip("this machine has no apt-get to be put over")
	}
	for name, end := range map[string]func(c *exec.Cmd, out *os.File){
		"the reader is gone":    func(_ *exec.Cmd, out *os.File) { out.Close() },
		"the terminal is gone":  func(c *exec.Cmd, _ *os.File) { _ = c.Process.Signal(syscall.SIGHUP) },
		"both":                  func(c *exec.Cmd, out *os.File) { out.Close(); _ = c.Process.Signal(syscall.SIGHUP) },
		"Ctrl-C, and once more": func(c *exec.Cmd, _ *os.File) { _ = c.Process.Signal(os.Interrupt); _ = c.Process.Signal(os.Interrupt) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			state := filepath.Join(dir, "state")
			apt := filepath.Join(dir, "apt-get")
			if err := os.WriteFile(apt, []byte(strings.ReplaceAll(slowApt, "STATE", state)), 0o755); err != nil {
				t.Fatal(err)
			}
			c := exec.Command("unshare", "-m", "sh", "-c", `mount --bind "$1" "$2" && exec "$3" __root`, "sh", apt, real, file(t, static, "envfix"))
			c.Stdin = strings.NewReader(`{"id":"x","run":{"argv":["apt-get","install","-y","nvidia-open"]}}`)
			out, err := c.StdoutPipe()
			if err == nil {
				err = c.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it installs
				t.Fatal(err)
			}
			for i := 0; ; i++ {
				if b, _ := os.ReadFile(state); len(b) > 0 {
					break
				}
				if i > 500 {
					t.Fatal("it never began")
				}
				time.Sleep(10 * time.Millisecond)
			}
			end(c, out.(*os.File))
			_ = c.Wait() // how it ended is for nobody to read
			if b, err := os.ReadFile(state); string(b) != "begun\nended\n" {
				t.Errorf("the package manager was cut off: %q %v", b, err)
			}
		})
	}
}
