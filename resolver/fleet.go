package resolver

import (
	"fmt"
	"strings"

	"envfix/internal/machine"
	"envfix/matrix"
)

// ResolveAll answers for many machines at once. Machines of one class (everything
// that decides is equal) share one Resolution, which must not be changed; a fleet
// of one gets what [Resolve] gives.
func ResolveAll(m *matrix.Matrix, fleet []machine.Machine, r Request) ([]*Resolution, error) {
	out := make([]*Resolution, len(fleet))
	classes := map[string]*Resolution{}
	for i, h := range fleet {
		key := class(h)
		res, ok := classes[key]
		if ok && res == nil { // its answer names its own GPUs
			key += uuids(h)
			res, ok = classes[key]
		}
		if ok {
			out[i] = res
			continue
		}
		res, err := Resolve(m, h, r)
		if err != nil {
			return nil, fmt.Errorf("machine %d: %w", i, err)
		}
		out[i] = res
		if res.VisibleGPUs != nil || res.Environments != nil {
			classes[key] = nil
			key += uuids(h)
		}
		classes[key] = res
	}
	return out, nil
}

func uuids(h machine.Machine) string {
	var b strings.Builder
	for _, g := range h.GPUs {
		fmt.Fprintf(&b, "\nuuid %q", g.UUID)
	}
	return b.String()
}

// class names what decides about a machine. What differs between machines of one
// make (UUIDs, addresses, memory, paths) is left out.
func class(h machine.Machine) string {
	var b strings.Builder
	p := h.Platform
	fmt.Fprintf(&b, "%q %q %q %q %q", p.OS, p.Arch, p.Environment, p.L4T, p.DistroVersion)
	if p.Libc != nil {
		fmt.Fprintf(&b, " %q %q", p.Libc.Kind, p.Libc.Version)
	}
	if d := h.Driver; d != nil {
		fmt.Fprintf(&b, " driver %q %q %q %v", d.Version, d.KernelModule, d.LoadedVersion, d.NotLoaded)
	}
	for _, g := range h.GPUs {
		fmt.Fprintf(&b, "\ngpu %d %q %q %v %q %v %v %q %q %v %v", g.Index, g.Vendor, g.Name, g.SM, g.PCIID, g.Visible, g.Integrated, g.GFX, g.KernelDriver, g.Evidence == machine.FromFlag, g.MIG != "")
	}
	for _, y := range h.Pythons {
		fmt.Fprintf(&b, "\npython %q %v %v", y.Version, y.Active, y.FreeThreaded)
	}
	for _, k := range h.Installed {
		fmt.Fprintf(&b, "\npackage %q %q %q", k.Name, k.Version, k.Requires)
		if k.CUDA != nil {
			fmt.Fprintf(&b, " %q", *k.CUDA)
		}
	}
	return b.String()
}
