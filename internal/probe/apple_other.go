//go:build !darwin

package probe

import "envfix/internal/machine"

// appleGPUs is the GPU of an Apple chip; other systems cannot ask.
func appleGPUs(h *host) []machine.GPU { return nil }
