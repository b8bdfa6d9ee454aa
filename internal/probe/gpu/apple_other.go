//go:build !darwin

package gpu

import (
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
)

// appleGPUs is the GPU of an Apple chip; other systems cannot ask.
func appleGPUs(h *sysroot.Host) []machine.GPU { return nil }
