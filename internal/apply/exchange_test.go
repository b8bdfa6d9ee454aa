//go:build linux

package apply

import (
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

// refuseExchange has the kernel answer every exchange of two names in this process
// with errno, as kernels and file systems without it do. It cannot be undone.
func refuseExchange(errno uintptr) error {
	const (
		loadWord = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal    = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		answer   = unix.BPF_RET | unix.BPF_K
		number   = 0          // struct seccomp_data: the call's number
		flags    = 16 + 4*8   // its fifth argument
		allow    = 0x7fff0000 // SECCOMP_RET_ALLOW
		fail     = 0x00050000 // SECCOMP_RET_ERRNO
	)
	filter := []unix.SockFilter{
		{Code: loadWord, K: number},
		{Code: equal, Jf: 3, K: unix.SYS_RENAMEAT2},
		{Code: loadWord, K: flags},
		{Code: equal, Jf: 1, K: unix.RENAME_EXCHANGE},
		{Code: answer, K: fail | uint32(errno)},
		{Code: answer, K: allow},
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

// errnos are the answers of what cannot exchange two names.
var errnos = map[string]unix.Errno{"ENOSYS": unix.ENOSYS, "EINVAL": unix.EINVAL, "EPERM": unix.EPERM}

// Where two names cannot be exchanged an environment is adopted by two renames, and
// a rollback puts the very same back, by two.
func TestAdoptWithoutExchange(t *testing.T) {
	for name := range errnos {
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
