package gpu

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/nvmlchild"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// nvidiaGPUs lists the GPUs: those that NVML or nvidia-smi name, and those on the
// bus that neither does, which are not usable.
func nvidiaGPUs(h *sysroot.Host, n nvidia, d *machine.Driver, o Options) (out []machine.GPU) {
	rest := n.bus
	switch {
	case n.report != nil && n.report.Return == nvmlchild.Success:
		for _, g := range n.report.GPUs {
			var p pciGPU
			var onBus bool
			p, rest, onBus = takeAddress(rest, g.PCIBus)
			out = append(out, reported(h, g, p, onBus, o)...)
		}
	case n.smi != nil:
		for _, s := range n.smi.gpus {
			p, left, onBus := takeAddress(rest, s.PCIAddress)
			rest = left
			out = append(out, withBus(s, p, onBus, o))
		}
	}
	lost := n.lost(rest)
	for _, p := range rest {
		g := p.gpu(o.Device)
		if n.drives(p) && len(lost) > 0 {
			g.Fault, lost = lost[0], lost[1:]
		}
		if name := n.kernel.models[p.Address]; name != "" {
			g.Name = name
		}
		g.UUID = n.kernel.uuids[p.Address]
		g.Visible = n.usableByFiles(d, p)
		if g.Visible {
			g.Evidence = machine.FromProc
		}
		out = append(out, g)
	}
	for i := range out {
		out[i].Integrated = out[i].Integrated || integrated(out[i].Name)
	}
	return out
}

// lost are the faults of the GPUs that NVML lists and cannot reach, one for each on
// the bus that is left over. NVML does not say which is which: where others are left
// over too, there is no telling.
func (n nvidia) lost(rest []pciGPU) (out []string) {
	left := len(xslices.Filter(rest, n.drives))
	if n.report == nil || len(n.report.Lost) != left {
		return nil
	}
	for _, code := range n.report.Lost {
		switch code {
		case 15: // NVML_ERROR_GPU_IS_LOST
			out = append(out, machine.FaultLost)
		case 16: // NVML_ERROR_RESET_REQUIRED
			out = append(out, machine.FaultReset)
		default:
			out = append(out, machine.FaultUnknown)
		}
	}
	return out
}

// usableByFiles judges a GPU without NVML: the kernel module lists it, and the
// user space is of the module's version.
func (n nvidia) usableByFiles(d *machine.Driver, p pciGPU) bool {
	return n.report == nil && n.smi == nil && !n.hung && d != nil && !d.NotLoaded && n.listed(p) &&
		n.hasLibraries() && (n.user.IsZero() || n.user.Compare(n.kernel.version) == 0)
}

// drives reports whether NVIDIA's kernel module has a GPU, as the bus or the module says.
func (n nvidia) drives(p pciGPU) bool { return p.Driver == "nvidia" || n.listed(p) }

func (n nvidia) listed(p pciGPU) bool {
	return slices.ContainsFunc(n.kernel.gpus, func(address string) bool { return sameAddress(address, p.Address) })
}

// reported turns one device of NVML into GPUs: itself, or its slices.
func reported(h *sysroot.Host, g nvmlchild.GPU, p pciGPU, onBus bool, o Options) (out []machine.GPU) {
	whole := fromNVML(h, g)
	whole.PCIAddress = shortAddress(g.PCIBus)
	if whole.PCIAddress != "" && g.PCIDevice != 0 {
		whole.PCIID = fmt.Sprintf("%04x:%04x", g.PCIDevice&0xffff, g.PCIDevice>>16)
	}
	if g.PCISub != 0 {
		whole.Subsystem = fmt.Sprintf("%04x:%04x", g.PCISub&0xffff, g.PCISub>>16)
	}
	whole = withBus(whole, p, onBus, o)
	whole.Use = gpuUse(h, g.Use, nil)
	if !g.MIG {
		return []machine.GPU{whole}
	}
	if len(g.Slices) == 0 {
		h.Note("%s is in MIG mode and has no slices: nothing can use it", whole.Name)
		whole.Visible, whole.MIGMode = false, true
		return []machine.GPU{whole}
	}
	for _, s := range g.Slices {
		slice := fromNVML(h, s)
		slice.Use = gpuUse(h, s.Use, g.Use)
		slice.PCIAddress, slice.PCIID, slice.Subsystem, slice.KernelDriver = whole.PCIAddress, whole.PCIID, whole.Subsystem, whole.KernelDriver
		_, profile, _ := strings.Cut(slice.Name, " MIG ")
		slice.Name, slice.MIG = whole.Name, cmp.Or(profile, "unknown")
		out = append(out, slice)
	}
	return out
}

// fromNVML takes what NVML says about a device and drops what cannot be.
func fromNVML(h *sysroot.Host, g nvmlchild.GPU) machine.GPU {
	out := machine.GPU{Vendor: machine.NVIDIA, Name: text.Printable(g.Name), UUID: text.Printable(g.UUID), Visible: true, Evidence: machine.FromNVML}
	if len(out.Name) > 200 {
		out.Name = ""
	}
	sm, err := machine.ParseSM(fmt.Sprintf("%d.%d", g.Major, g.Minor))
	if err == nil {
		out.SM = sm
	} else if g.Major != 0 || g.Minor != 0 {
		h.Note("nvml: %d.%d is not a compute capability; dropped", g.Major, g.Minor)
	}
	if g.Memory <= 1<<50 {
		out.MemoryBytes = int64(g.Memory)
	} else {
		h.Note("nvml: %d bytes are not a GPU's memory; dropped", g.Memory)
	}
	return out
}

// withBus completes a GPU by what the bus and the device table know of it. A
// driver older than the GPU calls it "Graphics Device" or "NVIDIA Graphics
// Device".
func withBus(g machine.GPU, p pciGPU, onBus bool, o Options) machine.GPU {
	if onBus {
		g.PCIID, g.KernelDriver = p.Vendor+":"+p.Device, p.Driver
		if g.Subsystem == "" && p.SubVendor != "" && p.SubVendor != "0000" {
			g.Subsystem = p.SubVendor + ":" + p.SubDevice
		}
	}
	if !strings.HasSuffix(g.Name, "Graphics Device") && g.Name != "" && !g.SM.IsZero() || o.Device == nil || g.PCIID == "" {
		return g
	}
	id := PCI{}
	id.Vendor, id.Device, _ = strings.Cut(g.PCIID, ":")
	id.SubVendor, id.SubDevice, _ = strings.Cut(g.Subsystem, ":")
	if d, ok := o.Device(id); ok {
		if g.Name == "" || strings.HasSuffix(g.Name, "Graphics Device") {
			g.Name = text.Printable(d.Name)
		}
		g.SM = cmp.Or(g.SM, d.SM)
	}
	return g
}

// integrated knows NVIDIA's GPUs that share the CPU's memory by their names:
// "Orin (nvgpu)", "NVIDIA Thor", "NVIDIA GB10".
func integrated(name string) bool {
	marks := []string{"(nvgpu)", "Thor", "GB10", "Tegra", "Jetson"}
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(name, mark) })
}
