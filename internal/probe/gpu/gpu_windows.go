package gpu

import (
	"cmp"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
	"envfix/internal/version"

	"golang.org/x/sys/windows/registry"
)

// displayClass holds one key per display adapter that has, or had, a driver.
const displayClass = `SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}`

// windowsGPUs reads the display adapters from the registry, but for NVIDIA's
// where nvidia-smi has named them already.
func windowsGPUs(h *sysroot.Host, known []machine.GPU, o Options) (out []machine.GPU) {
	for i := range 32 {
		k, err := registry.OpenKey(registry.LOCAL_MACHINE, fmt.Sprintf(`%s\%04d`, displayClass, i), registry.QUERY_VALUE)
		if err != nil {
			continue
		}
		id, _, _ := k.GetStringValue("MatchingDeviceId") // pci\ven_10de&dev_2b85&subsys_…
		name, _, _ := k.GetStringValue("DriverDesc")
		memory, _, _ := k.GetIntegerValue("HardwareInformation.qwMemorySize")
		k.Close()
		p := pciGPU{PCI: PCI{Vendor: after(id, "ven_"), Device: after(id, "dev_")}}
		vendor := gpuVendors[p.Vendor]
		if vendor == "" || vendor == machine.NVIDIA && len(known) > 0 {
			continue
		}
		g := p.gpu(o.Device)
		g.Evidence = "registry"
		g.Name = cmp.Or(g.Name, text.Printable(name))
		if memory < 1<<50 {
			g.MemoryBytes = int64(memory)
		}
		g.Visible = vendor != machine.NVIDIA
		g.Integrated = g.Integrated || vendor == machine.Intel && !strings.Contains(g.Name, "Arc")
		out = append(out, g)
	}
	return out
}

// windowsDriver is the version of NVIDIA's driver in the registry; zero: none.
func windowsDriver() version.Dotted {
	for i := range 32 {
		k, err := registry.OpenKey(registry.LOCAL_MACHINE, fmt.Sprintf(`%s\%04d`, displayClass, i), registry.QUERY_VALUE)
		if err != nil {
			continue
		}
		id, _, _ := k.GetStringValue("MatchingDeviceId")
		v, _, _ := k.GetStringValue("DriverVersion")
		k.Close()
		if after(id, "ven_") == "10de" {
			return parseWindowsDriver(v)
		}
	}
	return version.Dotted{}
}

// after returns the four hexadecimal digits behind a mark.
func after(id, mark string) string {
	_, rest, ok := strings.Cut(strings.ToLower(id), mark)
	if !ok || len(rest) < 4 {
		return ""
	}
	return hex4(rest[:4])
}

func ownGroup(*exec.Cmd) {}

func numbersOf(fs.FileInfo) (uint64, uint64, bool) { return 0, 0, false }

func closed(string) string { return "" }
