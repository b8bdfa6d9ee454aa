package loader_test

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestNoWriter: a FIFO in the place of a library is none, and who would write into it is not waited for.
func TestNoWriter(t *testing.T) {
	f := tree(t, torch())
	at := f.Real("/n/libnccl.so.2")
	if err := errors.Join(os.Remove(at), syscall.Mkfifo(at, 0o644)); err != nil {
		t.Fatal(err)
	}
	if v, _ := start(t, f); len(v.Missing) != 1 || v.Missing[0].Why != "it is no library" {
		t.Errorf("%+v", v.Missing)
	}
}

// TestBlind: a file that cannot be opened for want of descriptors is none that is missing.
func TestBlind(t *testing.T) {
	var was syscall.Rlimit
	f := tree(t, torch())
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Skip(err)
	}
	defer func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was) }()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 0, Max: was.Max}); err != nil {
		t.Skip(err)
	}
	if v := f.Start("/bin/python", nil); !v.Blind {
		t.Error("nothing could be opened, and the view is taken for whole")
	}
}
