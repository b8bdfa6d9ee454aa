//go:build linux

package apply

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inNamespace runs a shell script in a mount namespace of its own, with the arguments
// $1 and so on, and returns what it printed.
func inNamespace(t *testing.T, script string, env []string, args ...string) (string, error) {
	t.Helper()
	if os.Geteuid() != 0 || exec.Command("unshare", "-m", "true").Run() != nil {
		t.Skip("root and a mount namespace are needed")
	}
	c := exec.Command("unshare", append([]string{"-m", "sh", "-c", script, "sh"}, args...)...)
	c.Env = append([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, env...)
	out, err := c.CombinedOutput()
	return string(out), err
}

// Where something lies over /proc nobody knows whether an old environment is in use: it
// stays, and all else goes on as it does elsewhere.
func TestHiddenProc(t *testing.T) {
	b := newBench(t)
	first := b.mustApply(b.plan("2.12.0+cu126"))
	b.mustApply(b.plan("2.13.0+cu126"))
	env := []string{"ENVFIX_FAULT_DIR=" + b.dir, "ENVFIX_FAULT_PLAN=" + b.saved(b.plan("2.14.1+cu126")), "HOME=" + b.dir}
	out, err := inNamespace(t, `mount -t tmpfs none /proc && exec "$1"`, env, os.Args[0])
	if err != nil || b.torch() != "2.14.1+cu126" {
		t.Fatalf("%v, torch is %q\n%s", err, b.torch(), out)
	}
	if _, err := os.Stat(filepath.Join(b.dir, genPath(first.Generation))); err != nil || !strings.Contains(out, "kept the environment") {
		t.Errorf("the environment that a job may run in: %v\n%s", err, out)
	}
}

// A file system that becomes read-only while an environment is built, as the kernel makes
// it after an I/O error, leaves the old environment; when it can be written again, so can
// the new one be made.
func TestReadOnlyRemount(t *testing.T) {
	b := newBench(t)
	b.mustApply(b.plan("2.13.0+cu126", moreSteps))
	file := b.saved(b.plan("2.14.1+cu126", moreSteps))
	const script = `
set -e
truncate -s 64M "$4/disk"
mkfs.ext4 -q -O ^metadata_csum "$4/disk"
mount -o loop,errors=remount-ro "$4/disk" "$1"
error=/sys/fs/ext4/$(basename "$(findmnt -no SOURCE "$1")")/trigger_fs_error
case $error in */loop[0-9]*/*) ;; *) exit 1 ;; esac
[ -w "$error" ] || { umount "$1"; echo "no such error here"; exit 0; }
cp -a "$2/." "$1" && sync -f "$1"
"$3" >"$4/first" 2>&1 & job=$!
sleep "$5"
echo test >"$error"
code=0; wait $job || code=$?
python=$1/.venv/bin/python
echo "ended with $code, torch $("$python" -I -B -c 'import torch; print(torch.__version__)')"
umount "$1"
e2fsck -fy "$4/disk" >/dev/null || [ $? -le 1 ]
mount -o loop "$4/disk" "$1"
echo "after the repair: torch $("$python" -I -B -c 'import torch; print(torch.__version__)')"
"$3" >"$4/again" 2>&1 || cat "$4/first" "$4/again"
echo "again: torch $("$python" -I -B -c 'import torch; print(torch.__version__)')"
umount "$1"
`
	for _, tool := range []string{"mkfs.ext4", "e2fsck", "findmnt"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no " + tool + " here")
		}
	}
	failed := 0
	moments := []string{"0", "0.05", "0.15", "0.3"}
	if os.Getenv("ENVFIX_LONG") != "" {
		moments = append(moments, "0.02", "0.1", "0.2", "0.4")
	}
	for _, after := range moments {
		env := []string{"ENVFIX_FAULT_DIR=" + b.dir, "ENVFIX_FAULT_PLAN=" + file, "HOME=" + b.dir + "/home"}
		out, err := inNamespace(t, script, env, b.dir, copyOf(t, b.dir), os.Args[0], t.TempDir(), after)
		if strings.Contains(out, "no such error here") {
			t.Skip("ext4 has no trigger_fs_error on this kernel")
		}
		if err != nil || strings.Count(out, "torch 2.1") != 3 || !strings.Contains(out, "again: torch 2.14.1+cu126\n") {
			t.Errorf("read-only after %s s: %v\n%s", after, err, out)
		}
		if !strings.Contains(out, "ended with 0") {
			failed++
		}
	}
	fmt.Printf("read-only during an apply: %d times, %d of them ended it\n", len(moments), failed)
	if failed == 0 {
		t.Skip("this machine was faster than each remount")
	}
}

func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if out, err := exec.Command("cp", "-a", dir+"/.", to).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return to
}
