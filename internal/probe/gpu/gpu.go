// Package gpu reads the GPUs of every vendor, NVIDIA's driver, and what uses and troubles
// them, from the bus, the kernel's files, NVIDIA's library and, where all else is silent,
// nvidia-smi. NVIDIA's library is loaded by a child: a broken one ends or stalls the child.
package gpu

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/say"
	"envfix/internal/text"
)

// A PCI identifies a device on the bus; hexadecimal, four digits, lower case.
type PCI struct {
	Vendor, Device, SubVendor, SubDevice string
}

// A Device is what the device table says about a PCI.
type Device struct {
	Name       string
	SM         machine.SM
	GFX        string
	Integrated bool
}

// A pciGPU is a display controller of a GPU vendor on the bus.
type pciGPU struct {
	PCI
	Address, Revision, Driver string
}

var gpuVendors = map[string]string{"10de": machine.NVIDIA, "1002": machine.AMD, "8086": machine.Intel}

// busGPUs lists the GPUs on the PCI bus in the order of their addresses: class
// 0300 (VGA), 0302 (3D) and 0380 (other display). Classes such as 0680 (NVSwitch)
// and 0403 (the audio function) are not GPUs. AMD's Instinct parts announce
// themselves as 0380 or as 1200, processing accelerators.
func busGPUs(h *sysroot.Host) (out []pciGPU) {
	const dir = "/sys/bus/pci/devices"
	for _, address := range h.Names(dir) {
		at := dir + "/" + address
		vendor := hex4(h.Text(at + "/vendor"))
		if gpuVendors[vendor] == "" {
			continue
		}
		class := strings.TrimPrefix(h.Text(at+"/class"), "0x")
		accelerator := vendor == "1002" && strings.HasPrefix(class, "1200")
		if !strings.HasPrefix(class, "0300") && !strings.HasPrefix(class, "0302") && !strings.HasPrefix(class, "0380") && !accelerator {
			continue
		}
		out = append(out, pciGPU{
			PCI: PCI{Vendor: vendor, Device: hex4(h.Text(at + "/device")),
				SubVendor: hex4(h.Text(at + "/subsystem_vendor")), SubDevice: hex4(h.Text(at + "/subsystem_device"))},
			Address: strings.ToLower(address), Revision: strings.TrimPrefix(h.Text(at+"/revision"), "0x"),
			Driver: h.Link(at + "/driver"),
		})
	}
	return out
}

// hex4 turns 0x1DB5 into 1db5, and text that is no such number into "".
func hex4(s string) string {
	n, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(s), "0x"), 16, 16)
	return say.If(err == nil, fmt.Sprintf("%04x", n))
}

// gpu turns a device of the bus into a GPU that is not known to be usable.
func (p pciGPU) gpu(lookup func(PCI) (Device, bool)) machine.GPU {
	g := machine.GPU{Vendor: gpuVendors[p.Vendor], PCIID: p.Vendor + ":" + p.Device, PCIAddress: p.Address, KernelDriver: p.Driver, Evidence: machine.FromPCI}
	if p.SubVendor != "" && p.SubVendor != "0000" {
		g.Subsystem = p.SubVendor + ":" + p.SubDevice
	}
	if lookup != nil {
		if d, ok := lookup(p.PCI); ok {
			g.Name, g.SM, g.GFX, g.Integrated = text.Printable(d.Name), d.SM, d.GFX, d.Integrated
		}
	}
	return g
}

// pciIDs are the places where distributions keep the list of all PCI devices.
var pciIDs = []string{"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids", "/usr/share/pci.ids"}

// nameUnknown gives GPUs that the device table does not know the name that the
// system's own list has, or else a name made of their number.
func nameUnknown(h *sysroot.Host, gpus []machine.GPU) {
	var list string
	for i := range gpus {
		g := &gpus[i]
		if g.Name != "" || g.PCIID == "" {
			continue
		}
		if list == "" {
			list = "\n" + h.FirstText(pciIDs...) + "\n"
		}
		if g.Name = pciName(list, g.PCIID); g.Name == "" {
			vendor := map[string]string{machine.NVIDIA: "NVIDIA", machine.AMD: "AMD", machine.Intel: "Intel"}[g.Vendor]
			g.Name = vendor + " GPU " + g.PCIID
		}
	}
}

// pciName looks vendor:device up in the text of pci.ids, where devices stand one
// tab below their vendor.
func pciName(list, id string) string {
	vendor, device, _ := strings.Cut(id, ":")
	_, rest, ok := strings.Cut(list, "\n"+vendor+"  ")
	if !ok {
		return ""
	}
	_, rest, _ = strings.Cut(rest, "\n")
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "#") {
			return ""
		}
		if name, ok := strings.CutPrefix(line, "\t"+device+"  "); ok {
			return text.Printable(strings.TrimSpace(name))
		}
	}
	return ""
}

// sameAddress compares PCI addresses: NVML writes 00000000:3B:00.0, sysfs
// 0000:3b:00.0.
func sameAddress(a, b string) bool { return a != "" && shortAddress(a) == shortAddress(b) }

// shortAddress brings an address to the form of sysfs.
func shortAddress(a string) string {
	domain, rest, ok := strings.Cut(strings.ToLower(a), ":")
	if !ok {
		return strings.ToLower(a)
	}
	domain = strings.TrimLeft(domain, "0")
	domain = strings.Repeat("0", max(0, 4-len(domain))) + domain
	return domain + ":" + rest
}

// takeAddress removes the device with an address from the list.
func takeAddress(list []pciGPU, address string) (pciGPU, []pciGPU, bool) {
	for i, p := range list {
		if sameAddress(p.Address, address) {
			return p, slices.Delete(slices.Clone(list), i, i+1), true
		}
	}
	return pciGPU{}, list, false
}

// Options say how GPUs are looked for. The zero value starts no program but
// nvidia-smi.
type Options struct {
	Use    bool                        // also ask what uses the GPUs, and what the kernel's log says of them
	Self   string                      // envfix's own program, whose command __nvml loads NVIDIA's library; "" do not ask it
	NVML   string                      // ENVFIX_NVML: the library's path, or off
	SMI    string                      // nvidia-smi; "" the place where drivers put it
	Limit  time.Duration               // for each program that is started; 0: Limit
	Device func(PCI) (Device, bool)    // the device table by id; nil knows nothing
	ByName func(string) (Device, bool) // the device table by name; nil knows nothing
}

// Limit is how long a program that is started may take.
const Limit = 2 * time.Second

func (o Options) limit() time.Duration { return cmp.Or(o.Limit, Limit) }

// List lists the GPUs of every vendor and NVIDIA's driver.
func List(ctx context.Context, h *sysroot.Host, o Options, p machine.Platform) ([]machine.GPU, *machine.Driver) {
	if h.OS == "macos" {
		return appleGPUs(h), nil
	}
	environment := p.Environment
	bus := busGPUs(h)
	n := gatherNVIDIA(ctx, h, o, environment, bus)
	driver := findDriver(h, n, environment)
	if driver != nil && driver.NotLoaded && environment == machine.Bare {
		whyNotLoaded(h, p)
	}
	out := nvidiaGPUs(h, n, driver, o)
	if environment == machine.Jetson {
		out = jetson(h, out)
	}
	sharedMemory(h, out)
	out = append(out, amdGPUs(h, bus, o)...)
	out = append(out, intelGPUs(h, bus, o)...)
	if environment == machine.WSL2 && len(out) == 0 {
		out = append(out, wslForeign(h)...)
	}
	if h.OS == "windows" {
		out = append(out, windowsGPUs(h, out, o)...)
	}
	nameUnknown(h, out)
	targets(out, o)
	for i := range out {
		out[i].Index = i
	}
	return out, driver
}
