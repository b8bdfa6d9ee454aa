package gpu

import (
	"strings"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
)

// intelGPUs lists Intel's GPUs on the bus. The one inside a processor always has
// the address 00:02.0; cards stand behind a bridge.
func intelGPUs(h *sysroot.Host, bus []pciGPU, o Options) (out []machine.GPU) {
	for _, p := range bus { // a container has /dev/dri only where it was given
		if p.Vendor != "8086" {
			continue
		}
		g := p.gpu(o.Device)
		g.Integrated = g.Integrated || strings.HasSuffix(p.Address, ":00:02.0")
		g.Visible = (p.Driver == "i915" || p.Driver == "xe") && len(h.Names("/dev/dri")) > 0
		out = append(out, g)
	}
	return out
}

// wslForeign finds the GPUs of AMD and Intel under WSL, where no bus shows them:
// the Windows drivers leave their user-mode libraries in the driver store. The
// model stays unknown.
func wslForeign(h *sysroot.Host) (out []machine.GPU) {
	const store = "/usr/lib/wsl/drivers"
	seen := map[string]bool{}
	for _, dir := range h.Names(store) {
		for _, name := range h.Names(store + "/" + dir) {
			switch {
			case strings.HasPrefix(name, "amdxc64"), strings.HasPrefix(name, "libamd"):
				seen[machine.AMD] = true
			case strings.HasPrefix(name, "libigd12"), strings.HasPrefix(name, "libigdgmm"):
				seen[machine.Intel] = true
			}
		}
	}
	for _, g := range []machine.GPU{{Vendor: machine.AMD, Name: "AMD GPU of Windows"}, {Vendor: machine.Intel, Name: "Intel GPU of Windows", Integrated: true}} {
		if seen[g.Vendor] {
			g.Visible, g.Evidence = true, "wsl"
			h.Note("WSL shows an %s, but not its model; `--gpu` can name it", g.Name)
			out = append(out, g)
		}
	}
	return out
}
