//go:build !darwin

package probe

import "envfix/internal/machine"

// appleGPUs is the GPU of an Apple chip; other systems cannot ask.
func (h *host) appleGPUs() []machine.GPU { return nil }
