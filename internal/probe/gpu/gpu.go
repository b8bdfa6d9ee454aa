// Package gpu reads the GPUs of every vendor, NVIDIA's driver, and what uses and troubles
// them, from the bus, the kernel's files, NVIDIA's library and, where all else is silent,
// nvidia-smi. NVIDIA's library is loaded by a child: a broken one ends or stalls the child.
package gpu

import (
	"cmp"
	"context"
	"time"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
)

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
