package gpu

import (
	"path"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
	"envfix/internal/version"
)

// A kernelModule is the loaded NVIDIA module, as the kernel's files tell.
type kernelModule struct {
	version version.Dotted
	flavour string            // open, proprietary; "" unknown
	gpus    []string          // addresses of the GPUs that it drives
	models  map[string]string // by address
	uuids   map[string]string // by address; unknown where the user may not know them
}

var (
	moduleText = lazy.Regexp(`Kernel Module[^\n]*?\s(\d{2,4}\.\d{1,3}(?:\.\d{1,3})?)\b`)
	libVersion = lazy.Regexp(`^lib(?:nvidia-ml|cuda)\.so\.(\d{2,4}\.\d{1,3}(?:\.\d{1,3})?)$`)
)

// parseModule reads /proc/driver/nvidia/version. The open module calls itself
// "NVIDIA UNIX Open Kernel Module for x86_64  595.45.04", the proprietary one
// "NVIDIA UNIX x86_64 Kernel Module  535.129.03".
func parseModule(s string) (v version.Dotted, flavour string) {
	m := moduleText().FindStringSubmatch(s)
	if m == nil {
		return version.Dotted{}, ""
	}
	if v = version.ReadDotted(m[1]); !machine.PlausibleDriver(v) {
		return version.Dotted{}, ""
	}
	if strings.Contains(s, "Open Kernel Module") {
		return v, "open"
	}
	return v, "proprietary"
}

// loadedModule reads what the loaded module says about itself.
func loadedModule(h *sysroot.Host) (k kernelModule) {
	const dir = "/proc/driver/nvidia/gpus"
	k.version, k.flavour = parseModule(h.Text("/proc/driver/nvidia/version"))
	if v := version.ReadDotted(h.Text("/sys/module/nvidia/version")); machine.PlausibleDriver(v) {
		k.version = v
	}
	k.models, k.uuids = map[string]string{}, map[string]string{}
	for _, address := range h.Names(dir) {
		k.gpus = append(k.gpus, address)
		for line := range strings.Lines(h.Text(dir + "/" + address + "/information")) {
			if name, ok := strings.CutPrefix(line, "Model:"); ok {
				k.models[address] = text.Printable(strings.TrimSpace(name))
			}
			if id, ok := strings.CutPrefix(line, "GPU UUID:"); ok && !strings.Contains(id, "?") {
				k.uuids[address] = text.Printable(strings.TrimSpace(id))
			}
		}
	}
	return k
}

// wslLibraries is where Windows puts its driver's libraries for WSL.
const wslLibraries = "/usr/lib/wsl/lib"

// libraryDirs are the places where drivers put libnvidia-ml.so.1, beside those
// that the loader searches by itself: Debian's alternatives, NixOS, Container-
// Optimized OS and GKE, Flatcar, RHEL's and SUSE's 64-bit directories.
func libraryDirs(h *sysroot.Host) []string {
	dirs := []string{wslLibraries}
	for _, d := range strings.Split(h.Env["LD_LIBRARY_PATH"], ":") {
		if h.Abs(d) && !strings.Contains(d+"/", "/stubs/") {
			dirs = append(dirs, path.Clean(d))
		}
	}
	for _, triple := range []string{"x86_64-linux-gnu", "aarch64-linux-gnu"} {
		dirs = append(dirs, "/usr/lib/"+triple, "/usr/lib/"+triple+"/nvidia/current", "/usr/lib/"+triple+"/nvidia")
	}
	return append(dirs, "/usr/lib64", "/usr/lib", "/lib64", "/lib", "/usr/lib64/nvidia", "/usr/local/nvidia/lib64", "/run/opengl-driver/lib",
		"/usr/local/lib", "/opt/nvidia/lib64", "/home/kubernetes/bin/nvidia/lib64")
}

// findLibraries finds the driver's libraries, and the version of the user space,
// which the names of their files carry.
func findLibraries(h *sysroot.Host, n *nvidia) {
	for _, dir := range libraryDirs(h) {
		if !h.IsDir(dir) {
			continue
		}
		for _, name := range []string{"/libnvidia-ml.so.1", "/libcuda.so.1"} {
			if !h.Exists(dir + name) {
				continue
			}
			if name == "/libcuda.so.1" {
				n.cuda = append(n.cuda, dir+name)
			} else {
				n.found = append(n.found, dir+name)
			}
			if n.user.IsZero() {
				n.user = plausible(libVersion.Group(path.Base(h.Resolved(dir + name))))
			}
		}
	}
}

func plausible(s string) version.Dotted {
	if v := version.ReadDotted(s); machine.PlausibleDriver(v) {
		return v
	}
	return version.Dotted{}
}
