//go:build !windows

package gpu

import (
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/version"
)

// windowsGPUs reads the registry; other systems have none.
func windowsGPUs(*sysroot.Host, []machine.GPU, Options) []machine.GPU { return nil }

// windowsDriver is the version of NVIDIA's driver in the registry.
func windowsDriver() version.Dotted { return version.Dotted{} }
