//go:build !linux

package probe

import "envfix/internal/machine"

// sharedMem is nil where there is no /dev/shm.
func sharedMem(h *host) *machine.SharedMem { return nil }

// limits are not read.
func limits(*host, *machine.Around) {}
