package describe

import (
	"envfix/internal/machine"
	"envfix/matrix"
)

// Complete looks up the compute capability of NVIDIA GPUs that a file of facts
// names without it: by PCI id, else by a name that is clear.
func Complete(h *machine.Machine) {
	for i := range h.GPUs {
		g := &h.GPUs[i]
		if g.Vendor != machine.NVIDIA || !g.SM.IsZero() {
			continue
		}
		table := matrix.Devices()
		if d, ok := table.LookupPCI(g.PCIID, g.Subsystem); ok && d.Vendor == machine.NVIDIA {
			g.SM = d.SM
			continue
		}
		if found := table.LookupName(g.Name); len(found) > 0 && len(severalAnswers(found)) <= 1 && found[0].Vendor == machine.NVIDIA {
			g.SM = found[0].SM
		}
	}
}
