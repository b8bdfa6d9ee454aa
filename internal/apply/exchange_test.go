//go:build linux

package apply

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// refuse has the kernel answer a call of this process with errno, as kernels and
// file systems do that cannot do it. Of the call's fifth argument the value is
// compared; any: it does not matter. It cannot be undone.
func refuse(call, value uint32, errno unix.Errno) error {
	const (
		loadWord = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal    = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		answer   = unix.BPF_RET | unix.BPF_K
		number   = 0          // struct seccomp_data: the call's number
		fifth    = 16 + 4*8   // its fifth argument
		allow    = 0x7fff0000 // SECCOMP_RET_ALLOW
		fail     = 0x00050000 // SECCOMP_RET_ERRNO
	)
	filter := []unix.SockFilter{
		{Code: loadWord, K: number},
		{Code: equal, Jf: 3, K: call},
		{Code: loadWord, K: fifth},
		{Code: equal, Jf: 1, K: value},
		{Code: answer, K: fail | uint32(errno)},
		{Code: answer, K: allow},
	}
	if value == any5 {
		filter[3].Jf = 0
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if e != 0 {
		return e
	}
	return nil
}

const any5 = 1<<32 - 1

// errnos are the answers of what cannot exchange two names, or lock a file.
var errnos = map[string]unix.Errno{"ENOSYS": unix.ENOSYS, "EINVAL": unix.EINVAL, "EPERM": unix.EPERM, "ENOLCK": unix.ENOLCK}

// poorer takes from this process what its variables say.
func poorer() error {
	if name := os.Getenv("ENVFIX_NO_EXCHANGE"); name != "" {
		return refuse(unix.SYS_RENAMEAT2, unix.RENAME_EXCHANGE, errnos[name])
	}
	if name := os.Getenv("ENVFIX_NO_LOCKS"); name != "" {
		return refuse(unix.SYS_FLOCK, any5, errnos[name])
	}
	return nil
}

// Where two names cannot be exchanged an environment is adopted by two renames, and
// a rollback puts the very same back, by two.
func TestAdoptWithoutExchange(t *testing.T) {
	for _, name := range []string{"ENOSYS", "EINVAL", "EPERM"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			empty, err := emptyVenv()
			if err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("cp", "-a", empty, filepath.Join(b.dir, ".venv")).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			mine := b.tree(".venv")
			run := func(env ...string) string {
				c := exec.Command(os.Args[0])
				c.Env = append([]string{"ENVFIX_FAULT_DIR=" + b.dir, "ENVFIX_NO_EXCHANGE=" + name, "HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}, env...)
				out, err := c.CombinedOutput()
				if strings.Contains(string(out), "no filter") {
					t.Skipf("system calls cannot be filtered here: %s", out)
				}
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				return string(out)
			}
			run("ENVFIX_FAULT_PLAN=" + b.saved(b.plan("2.14.1+cu126")))
			if got := b.torch(); got != "2.14.1+cu126" {
				t.Errorf("torch: got %q", got)
			}
			if journal, err := os.ReadFile(filepath.Join(b.dir, journalName)); err != nil || !strings.Contains(string(journal), twoRenames) {
				t.Errorf("the exchange was not refused: %v\n%s", err, journal)
			}
			run()
			if diff := cmp.Diff(mine, b.tree(".venv")); diff != "" {
				t.Errorf("what was there came back changed (-before +after):\n%s", diff)
			}
			if left := b.tree(stateDir); strings.Contains(strings.Join(left, "\n"), "adopted") || strings.Contains(strings.Join(left, "\n"), nextLink) {
				t.Errorf("left over: %q", left)
			}
		})
	}
}

// An environment that its owner removed is not put back by the memory of an
// adoption that was done.
func TestRemovedStaysRemoved(t *testing.T) {
	b := newBench(t)
	if err := os.MkdirAll(filepath.Join(b.dir, ".venv", "mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = []string{"ENVFIX_FAULT_DIR=" + b.dir, "ENVFIX_NO_EXCHANGE=EINVAL", "ENVFIX_FAULT_PLAN=" + b.saved(b.plan("2.13.0+cu126")), "PATH=/usr/bin:/bin"}
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("system calls cannot be filtered here: %v\n%s", err, out)
	}
	if err := os.Remove(filepath.Join(b.dir, ".venv")); err != nil {
		t.Fatal(err)
	}
	b.mustApply(b.plan("2.14.1+cu126"))
	if out := b.out.String(); strings.Contains(out, "put ") {
		t.Errorf("output:\n%s", out)
	}
	gens, err := b.open().generations()
	if err != nil || len(gens) != 3 || !gens[0].Adopted {
		t.Errorf("generations: %+v, %v", gens, err)
	}
}

// On a file system without locks a file stands for one: it keeps a second one out,
// also one of another machine, is taken over from a process that is gone, and is
// given back.
func TestLockWithoutLocks(t *testing.T) {
	b := newBench(t)
	p := b.saved(b.plan("2.14.1+cu126"))
	lease := filepath.Join(b.dir, lockName+".lease")
	run := func() string {
		c := exec.Command(os.Args[0])
		c.Env = []string{"ENVFIX_FAULT_DIR=" + b.dir, "ENVFIX_NO_LOCKS=ENOLCK", "ENVFIX_FAULT_PLAN=" + p, "PATH=/usr/bin:/bin"}
		out, _ := c.CombinedOutput() // what it says is looked at
		if strings.Contains(string(out), "no filter") {
			t.Skipf("system calls cannot be filtered here: %s", out)
		}
		return string(out)
	}
	if err := b.open().prepare(); err != nil {
		t.Fatal(err)
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	boot := bootID()
	for _, tt := range []struct{ name, lease, want string }{
		{"another machine", "node7 00 1\n", "process 1 of node7 wrote " + lease + "; remove it when nothing works there any more"},
		{"a process that works", fmt.Sprintf("%s %s %d\n", host, boot, os.Getpid()), fmt.Sprintf("process %d of %s wrote", os.Getpid(), host)},
		{"half a lease", host, "nobody knows who wrote " + lease},
		{"a process that is gone", fmt.Sprintf("%s %s %d\n", host, boot, gone.Process.Pid), "step 4 of 4"},
		{"a machine that was started again", fmt.Sprintf("%s %s %d\n", host, "other", os.Getpid()), ""},
		{"none", "", ""},
	} {
		if tt.lease != "" {
			if err := os.WriteFile(lease, []byte(tt.lease), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out := run()
		if !strings.Contains(out, tt.want) || tt.want == "" && out != "" {
			t.Errorf("%s: got %q, want %q", tt.name, out, tt.want)
		}
		if text, err := os.ReadFile(lease); strings.Contains(tt.want, "step") && err == nil {
			t.Errorf("%s: the lease was not given back: %q", tt.name, text)
		}
		os.Remove(lease)
	}
	if got := b.torch(); got != "2.14.1+cu126" {
		t.Errorf("torch: got %q", got)
	}
}
