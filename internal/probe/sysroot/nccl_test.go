package sysroot_test

import (
	"testing"

	"envfix/internal/probe/sysroot"
	"envfix/internal/testenv"
)

// NCCL takes what its files say for variables that are not set.
func TestFilesOfNCCL(t *testing.T) {
	root := testenv.Tree(t, map[string]string{
		"etc/nccl.conf":      "# ours\nNCCL_SOCKET_IFNAME=ib9\nNCCL_DEBUG=WARN\nPATH=/x\n",
		"home/me/.nccl.conf": "NCCL_SOCKET_IFNAME=eth7\n",
	})
	h := sysroot.New(sysroot.Options{Root: root, OS: "linux", Env: []string{"HOME=/home/me", "NCCL_DEBUG=INFO"}})
	for name, want := range map[string]string{"NCCL_SOCKET_IFNAME": "eth7", "NCCL_DEBUG": "INFO", "PATH": ""} {
		if got := h.Env[name]; got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
}
