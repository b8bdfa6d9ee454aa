package probe

import "envfix/internal/machine"

// Around reads what stands around the GPUs. It starts nothing.
func Around(o Options) *machine.Around {
	h := o.host()
	kernels := h.kernels()
	if h.os != "linux" {
		return &machine.Around{Kernels: kernels}
	}
	a := &machine.Around{Kernels: kernels, Switches: h.switches(), SharedMem: h.sharedMem()}
	limits(h, a)
	a.Nodes, a.Networks = h.nodes(), h.names("/sys/class/net")
	if !h.container() {
		if a.Switches > 0 {
			a.Fabric = h.fabric()
		}
		a.CDI = h.cdi()
	}
	return a
}
