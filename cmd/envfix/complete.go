package main

import (
	"envfix/internal/machine"
	"envfix/matrix"
)

// completeGPUs fills in what a facts file leaves out and the device table knows:
// the compute capability of a GPU by its PCI id, else by its name where only one
// chip bears it. What the file says stays.
func completeGPUs(h *machine.Machine) error {
	for i := range h.GPUs {
		g := &h.GPUs[i]
		if g.Vendor != machine.NVIDIA || !g.SM.IsZero() {
			continue
		}
		table, err := matrix.Devices()
		if err != nil {
			return err
		}
		if d, ok := table.LookupPCI(g.PCIID, g.Subsystem); ok && d.Vendor == machine.NVIDIA {
			g.SM = d.SM
			continue
		}
		if found := table.LookupName(g.Name); len(found) > 0 && len(severalAnswers(found)) <= 1 && found[0].Vendor == machine.NVIDIA {
			g.SM = found[0].SM
		}
	}
	return nil
}
