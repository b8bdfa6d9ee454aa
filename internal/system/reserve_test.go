//go:build linux

package system

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A file system that counts no inodes has room for files.
func TestFreeFiles(t *testing.T) {
	if got := freeFiles(0, 0); got != math.MaxUint64 {
		t.Errorf("btrfs: got %d", got)
	}
	if got := freeFiles(1000, 7); got != 7 {
		t.Errorf("ext4: got %d", got)
	}
}

// What a file system would refuse later it refuses now, and nothing is left.
func TestReserve(t *testing.T) {
	mkfs, err := exec.LookPath("mkfs.ext4")
	if err != nil {
		t.Skipf("no small ext4 can be made here: %v", err)
	}
	dir := t.TempDir()
	image, at := filepath.Join(dir, "image"), filepath.Join(dir, "at")
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, 16<<20), os.Mkdir(at, 0o755)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(mkfs, "-q", "-F", image).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command("mount", "-o", "loop", image, at).CombinedOutput(); err != nil {
		t.Skipf("no image can be mounted here (%v: %s): run the tests as root for this one", err, out)
	}
	defer func() {
		if out, err := exec.Command("umount", at).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}()
	if err := Reserve(at, 4<<20); err != nil {
		t.Errorf("4 of 16 MiB: %v", err)
	}
	if err := Reserve(at, 64<<20); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("64 of 16 MiB: %v", err)
	}
	entries, err := os.ReadDir(at)
	if err != nil || len(entries) != 1 { // lost+found
		t.Errorf("left: %v, %v", entries, err)
	}
	if free, _, err := Free(at); err != nil || free < 8<<20 {
		t.Errorf("%d bytes are free afterwards, %v", free, err)
	}
	if err := Reserve("/nonexistent", 1); err != nil {
		t.Errorf("a directory that is not there: %v", err)
	}
}

// The kernel's word on quotas is believed of the file systems whose quotas it counts
// itself; where it has none to give, the file system is asked for the bytes.
func TestNoQuotas(t *testing.T) {
	if got := quotaState(-1); got != unix.EBADF && got != unix.ENOSYS && got != unix.EPERM {
		t.Errorf("of no file: got %v", got)
	}
	dir := t.TempDir()
	for _, kind := range []int64{unix.NFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC} {
		if noQuotas(dir, kind) {
			t.Errorf("%#x: its quotas are not the kernel's", kind)
		}
	}
	if noQuotas(dir+"/absent", unix.EXT4_SUPER_MAGIC) {
		t.Error("of a directory that is not there")
	}
}
