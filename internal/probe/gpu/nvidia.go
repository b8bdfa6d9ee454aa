package gpu

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"envfix/internal/machine"
	"envfix/internal/nvmlchild"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// An nvidia is all that was seen of NVIDIA's hardware and driver, by source. What
// it adds up to is decided in one place, below.
type nvidia struct {
	report *nvmlchild.Report // nil: NVML was not asked, or gave no report
	hung   bool              // NVML did not answer
	smi    *smiReport        // nil: not asked, or no answer
	bus    []pciGPU          // NVIDIA's GPUs on the bus
	kernel kernelModule
	user   version.Dotted // of the libraries on disk
	found  []string       // paths of NVIDIA's management library
	cuda   []string       // paths of the driver's CUDA library
}

// hasLibraries reports whether there is any user space at all.
func (n nvidia) hasLibraries() bool { return len(n.found) > 0 || len(n.cuda) > 0 }

// gatherNVIDIA gathers from every source, the best first, and asks nvidia-smi only
// where that could still add something.
func gatherNVIDIA(ctx context.Context, h *sysroot.Host, o Options, environment string, bus []pciGPU) (n nvidia) {
	n.bus = xslices.Filter(bus, func(p pciGPU) bool { return p.Vendor == "10de" })
	findLibraries(h, &n)
	n.kernel = loadedModule(h)
	if environment == machine.WSL2 {
		wslShadows(h, n)
	}
	reportNVML(ctx, h, o, environment, &n)
	answered := n.report != nil && n.report.Return != nvmlchild.NoLibrary
	if !answered && !n.hung && mayAskSMI(h, o, environment, n) {
		n.smi = askSMI(ctx, h, o)
	}
	return n
}

// reportNVML asks the child where there is a library to load.
func reportNVML(ctx context.Context, h *sysroot.Host, o Options, environment string, n *nvidia) {
	var libraries []string
	switch {
	case o.NVML == "off":
		h.Note("nvml: switched off")
		return
	case o.NVML != "":
		libraries = []string{o.NVML}
	case h.Root != "" || h.OS != "linux":
		return
	case environment == machine.WSL2:
		libraries = append([]string{wslLibraries + "/libnvidia-ml.so.1", ""}, n.found...)
	default:
		libraries = append([]string{""}, n.found...)
	}
	if o.NVML == "" && len(n.found) == 0 && !inLoaderCache(h) {
		if len(n.bus) > 0 || !n.kernel.version.IsZero() || environment == machine.WSL2 {
			h.Note("nvml: library not found")
		}
		return
	}
	if o.Self == "" {
		return
	}
	n.report, n.hung = askNVML(ctx, h, o, libraries)
	if n.report == nil {
		return
	}
	switch w := n.report.Words(); {
	case n.report.Return == nvmlchild.DriverNotLoaded && !n.kernel.version.IsZero():
		h.Note("nvml: the kernel module %s is loaded, but NVIDIA's library cannot reach it%s", n.kernel.version, unopened(h, "/dev/nvidiactl"))
	case w != "":
		h.Note("%s", text.Printable(w))
	}
	for _, p := range n.report.Problems {
		h.Note("nvml: %s", p)
	}
}

// unopened says why a device's file cannot be opened; "" it can. It is asked where the
// driver's library could not open it either.
func unopened(h *sysroot.Host, node string) string {
	f, err := os.OpenFile(h.Real(node), os.O_RDWR, 0)
	switch {
	case err == nil:
		f.Close()
	case errors.Is(err, fs.ErrNotExist):
		return "; " + node + " is missing"
	case errors.Is(err, syscall.EPERM):
		return "; the device rules of this container (cgroup) refuse " + node
	case errors.Is(err, fs.ErrPermission):
		return "; " + node + " is closed to us"
	}
	return ""
}
