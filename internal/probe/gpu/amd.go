package gpu

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
)

// amdAPUs are AMD's targets that share the CPU's memory; gfx targets of APUs in
// LLVM's AMDGPUUsage, "Processors". (gfx90a and gfx942 are discrete; the MI300A
// announces itself as gfx942 and is treated as discrete.)
var amdAPUs = map[string]bool{
	"gfx902": true, "gfx909": true, "gfx90c": true, "gfx1013": true, "gfx1033": true, "gfx1035": true, "gfx1036": true,
	"gfx1103": true, "gfx1150": true, "gfx1151": true, "gfx1152": true, "gfx1153": true,
}

// A kfdNode is one GPU of the ROCm kernel driver's topology.
type kfdNode struct {
	gfx, address, device string
	cpuCores             uint64
	memory               int64
}

const kfdNodes = "/sys/class/kfd/kfd/topology/nodes"

// kfd reads the topology that the amdgpu driver shows to ROCm.
func kfd(h *sysroot.Host) (out []kfdNode) {
	for _, id := range h.Names(kfdNodes) {
		p := properties(h.Text(kfdNodes + "/" + id + "/properties"))
		if p["gfx_target_version"] == 0 || p["simd_count"] == 0 || p["vendor_id"] != 0x1002 {
			continue
		}
		n := kfdNode{gfx: gfxName(p["gfx_target_version"]), device: fmt.Sprintf("%04x", p["device_id"]&0xffff), cpuCores: p["cpu_cores_count"]}
		loc := p["location_id"] // bus << 8 | device << 3 | function
		n.address = fmt.Sprintf("%04x:%02x:%02x.%x", p["domain"]&0xffff, loc>>8&0xff, loc>>3&0x1f, loc&7)
		for _, bank := range h.Names(kfdNodes + "/" + id + "/mem_banks") {
			b := properties(h.Text(kfdNodes + "/" + id + "/mem_banks/" + bank + "/properties"))
			// heap_type 1 and 2: the GPU's own memory
			if (b["heap_type"] == 1 || b["heap_type"] == 2) && b["size_in_bytes"] < 1<<50 {
				n.memory += int64(b["size_in_bytes"])
			}
		}
		out = append(out, n)
	}
	return out
}

// properties reads lines of "name number".
func properties(s string) map[string]uint64 {
	out := map[string]uint64{}
	for line := range strings.Lines(s) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64); err == nil {
			out[name] = n
		}
	}
	return out
}

// gfxName spells a gfx_target_version: 110000 is gfx1100 and 90010 gfx90a, major
// version in decimal, minor and stepping each as one hexadecimal digit.
func gfxName(v uint64) string {
	return fmt.Sprintf("gfx%d%x%x", v/10000%100, v/100%100, v%100)
}

// amdGPUs lists AMD's GPUs: what the ROCm kernel driver shows, and what else is
// on the bus, which ROCm cannot use.
func amdGPUs(h *sysroot.Host, bus []pciGPU, o Options) (out []machine.GPU) {
	for _, p := range bus {
		if p.Vendor == "1002" {
			out = append(out, p.gpu(o.Device))
		}
	}
	for _, n := range kfd(h) {
		i := 0
		for i < len(out) && !sameAddress(out[i].PCIAddress, n.address) {
			i++
		}
		if i == len(out) { // a container may hide the bus
			out = append(out, machine.GPU{Vendor: machine.AMD, PCIID: "1002:" + n.device, PCIAddress: n.address})
		}
		g := &out[i]
		g.GFX, g.MemoryBytes, g.Visible, g.Evidence = n.gfx, n.memory, true, machine.FromKFD
		g.Integrated = n.cpuCores > 0 || amdAPUs[n.gfx]
	}
	if len(out) > 0 {
		nameAMD(h, out, bus)
		kfdAccess(h, out)
	}
	return out
}

// nameAMD takes the names from libdrm's list, "device, revision, name" per line,
// which tells apart what shares a device id.
func nameAMD(h *sysroot.Host, gpus []machine.GPU, bus []pciGPU) {
	list := h.Text("/usr/share/libdrm/amdgpu.ids")
	for i := range gpus {
		p, _, _ := takeAddress(bus, gpus[i].PCIAddress)
		for line := range strings.Lines(list) {
			f := strings.SplitN(line, ",", 3)
			if len(f) == 3 && strings.EqualFold(strings.TrimSpace(f[0]), p.Device) && strings.EqualFold(strings.TrimSpace(f[1]), p.Revision) {
				gpus[i].Name = text.Printable(strings.TrimSpace(f[2]))
			}
		}
	}
}

// targets finds the gfx target of AMD's GPUs that the kernel does not show to
// ROCm, by their names: "Navi 31 [Radeon RX 7900 XT/7900 XTX]" means the first.
func targets(gpus []machine.GPU, o Options) {
	for i := range gpus {
		g := &gpus[i]
		if g.Vendor != machine.AMD || g.GFX != "" || o.ByName == nil {
			continue
		}
		name := g.Name
		if _, inner, ok := strings.Cut(name, "["); ok {
			name, _, _ = strings.Cut(strings.TrimSuffix(inner, "]"), "/")
		}
		if d, ok := o.ByName(name); ok {
			g.GFX = d.GFX
			g.Integrated = g.Integrated || amdAPUs[d.GFX]
		}
	}
}

// kfdAccess judges the device that ROCm needs: without it no GPU is usable, and
// without permission this user must be put into a group.
func kfdAccess(h *sysroot.Host, gpus []machine.GPU) {
	if !slices.ContainsFunc(gpus, func(g machine.GPU) bool { return g.Visible }) {
		return
	}
	if !h.Exists("/dev/kfd") {
		h.Note("/dev/kfd is missing: ROCm cannot reach the GPU (in a container: `--device /dev/kfd --device /dev/dri`)")
		for i := range gpus {
			gpus[i].Visible = false
		}
		return
	}
	if h.Root != "" {
		return
	}
	f, err := os.OpenFile("/dev/kfd", os.O_RDWR, 0)
	if err == nil {
		f.Close()
	} else if os.IsPermission(err) {
		h.Note("/dev/kfd: no permission; ROCm needs the groups render and video")
	}
}
