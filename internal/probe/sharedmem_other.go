//go:build !linux

package probe

import (
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
)

// sharedMem is nil where there is no /dev/shm.
func sharedMem(h *sysroot.Host) *machine.SharedMem { return nil }

// limits are not read.
func limits(*sysroot.Host, *machine.Around) {}
