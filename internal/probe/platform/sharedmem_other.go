//go:build !linux

package platform

import (
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
)

// SharedMem is nil where there is no /dev/shm.
func SharedMem(h *sysroot.Host) *machine.SharedMem { return nil }

// Limits are not read.
func Limits(*sysroot.Host, *machine.Around) {}
