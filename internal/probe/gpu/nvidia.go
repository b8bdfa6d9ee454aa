package gpu

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
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
	for _, file := range slices.Concat(n.cuda, n.found) {
		if at := h.Resolved(file); environment == machine.WSL2 && !strings.HasPrefix(at, wslLibraries) && !strings.HasPrefix(at, "/usr/lib/wsl/") {
			h.Note("%s is a Linux driver's; under WSL it shadows the one of Windows in %s", file, wslLibraries)
		}
	}
	reportNVML(ctx, h, o, environment, &n)
	answered := n.report != nil && n.report.Return != nvmlchild.NoLibrary
	driver := h.OS == "windows" || environment == machine.WSL2 || !n.kernel.version.IsZero()
	if !answered && !n.hung && driver && h.Root == "" && o.NVML != "off" && findSMI(h, o) != "" {
		n.smi = askSMI(ctx, h, o)
	}
	return n
}

// nvmlLibraries are the places to load NVIDIA's library from, "" the loader's; nil: it is
// not to be loaded, or not there.
func nvmlLibraries(h *sysroot.Host, o Options, environment string, n *nvidia) []string {
	switch wsl := environment == machine.WSL2; {
	case o.NVML == "off":
		h.Note("nvml: switched off")
		return nil
	case o.NVML != "":
		return []string{o.NVML}
	case h.Root != "" || h.OS != "linux":
		return nil
	case len(n.found) == 0 && !bytes.Contains(h.Bytes("/etc/ld.so.cache", sysroot.MaxFile), []byte("libnvidia-ml.so.1")): // nor in a place that we do not know
		if len(n.bus) > 0 || !n.kernel.version.IsZero() || wsl {
			h.Note("nvml: library not found")
		}
		return nil
	case wsl:
		return append([]string{wslLibraries + "/libnvidia-ml.so.1", ""}, n.found...)
	}
	return append([]string{""}, n.found...)
}

// reportNVML asks the child where there is a library to load.
func reportNVML(ctx context.Context, h *sysroot.Host, o Options, environment string, n *nvidia) {
	libraries := nvmlLibraries(h, o, environment, n)
	if libraries == nil || o.Self == "" {
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
