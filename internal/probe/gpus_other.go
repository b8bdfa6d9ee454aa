//go:build !windows

package probe

import "envfix/internal/machine"

// windowsGPUs reads the registry; other systems have none.
func (h *host) windowsGPUs([]machine.GPU, Options) []machine.GPU { return nil }
