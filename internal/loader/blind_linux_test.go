package loader_test

import (
	"syscall"
	"testing"
)

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
