//go:build !darwin

package probe

import (
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
)

// appleGPUs is the GPU of an Apple chip; other systems cannot ask.
func appleGPUs(h *sysroot.Host) []machine.GPU { return nil }
