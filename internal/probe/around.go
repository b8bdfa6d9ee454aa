package probe

import (
	"envfix/internal/machine"
	"envfix/internal/probe/gpu"
	"envfix/internal/probe/platform"
	"envfix/internal/probe/python"
)

// Around reads what stands around the GPUs. It starts nothing.
func Around(o Options) *machine.Around {
	h := o.host()
	kernels := python.Kernels(h)
	if h.OS != "linux" {
		return &machine.Around{Kernels: kernels}
	}
	a := &machine.Around{Kernels: kernels, Switches: gpu.Switches(h), SharedMem: platform.SharedMem(h)}
	platform.Limits(h, a)
	a.Nodes, a.Networks = gpu.Nodes(h), h.Names("/sys/class/net")
	if !platform.InContainer(h) {
		if a.Switches > 0 {
			a.Fabric = gpu.Fabric(h)
		}
		a.CDI = gpu.CDI(h)
	}
	return a
}
