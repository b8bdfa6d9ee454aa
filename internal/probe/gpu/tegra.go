package gpu

import (
	"fmt"

	"envfix/internal/machine"
	"envfix/internal/probe/platform"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
)

// tegraGPUs are the GPUs of NVIDIA's system-on-chips, which are on no bus up to
// Orin and, up to JetPack 5, not in NVML. Sources of the capabilities:
// developer.nvidia.com/cuda-gpus; chip names: the kernel's nvidia/tegra*.dtsi.
var tegraGPUs = map[string]Device{
	"tegra124": {Name: "Jetson TK1", SM: machine.SM{Major: 3, Minor: 2}},
	"tegra210": {Name: "Jetson Nano or TX1", SM: machine.SM{Major: 5, Minor: 3}},
	"tegra186": {Name: "Jetson TX2", SM: machine.SM{Major: 6, Minor: 2}},
	"tegra194": {Name: "Jetson Xavier", SM: machine.SM{Major: 7, Minor: 2}},
	"tegra234": {Name: "Jetson Orin", SM: machine.SM{Major: 8, Minor: 7}},
	"tegra264": {Name: "Jetson Thor", SM: machine.SM{Major: 11, Minor: 0}},
}

// jetson completes the GPU of a Jetson by its device tree: NVML does not list it
// up to JetPack 5, and does not tell its capability up to Orin.
func jetson(h *sysroot.Host, gpus []machine.GPU) []machine.GPU {
	d, ok := tegraGPUs[platform.Tegra(h)]
	if !ok {
		return gpus
	}
	for i := range gpus {
		if gpus[i].SM.IsZero() {
			gpus[i].SM, gpus[i].Integrated = d.SM, true
		}
	}
	if len(gpus) > 0 {
		return gpus
	}
	if model := text.Printable(h.Text("/proc/device-tree/model")); model != "" && len(model) < 200 {
		d.Name = model
	}
	usable := h.Exists("/dev/nvhost-gpu") || h.Exists("/dev/nvgpu") || h.Exists("/dev/nvmap") || h.Exists("/dev/nvidiactl")
	return []machine.GPU{{Vendor: machine.NVIDIA, Name: d.Name, SM: d.SM, Integrated: true, Visible: usable, Evidence: "device-tree"}}
}

// sharedMemory gives NVIDIA's GPUs that share the CPU's memory that size: NVML
// does not support the question there.
func sharedMemory(h *sysroot.Host, gpus []machine.GPU) {
	for i := range gpus {
		g := &gpus[i]
		if !g.Integrated || g.MemoryBytes > 0 {
			continue
		}
		var kib int64
		if _, err := fmt.Sscanf(h.Text("/proc/meminfo"), "MemTotal: %d kB", &kib); err == nil && kib > 0 && kib < 1<<40 {
			g.MemoryBytes = kib << 10
		}
	}
}
