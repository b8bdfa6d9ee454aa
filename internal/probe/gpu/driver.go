package gpu

import (
	"cmp"
	"fmt"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/nvmlchild"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
)

// findDriver adds everything up to the driver; nil: there is none.
func findDriver(h *sysroot.Host, n nvidia, environment string) *machine.Driver {
	if shutOut(h, n, environment) {
		return nil
	}
	d := reportedDriver(h, n)
	if d == nil {
		d = driverOnDisk(h, n, environment)
		if d != nil {
			d.RunFile = runFile(h, environment)
		}
		return d
	}
	if environment == machine.WSL2 || h.OS == "windows" { // the Windows driver; no kernel module here
		return d
	}
	d.KernelModule = n.kernel.flavour
	if !d.NotLoaded {
		d.LoadedVersion = n.kernel.version
	}
	if d.Version = cmp.Or(d.Version, n.kernel.version); d.Version.IsZero() {
		return nil
	}
	d.RunFile = runFile(h, environment)
	return d
}

// runFile reports a driver that NVIDIA's .run file installed: it alone brings an
// uninstaller, which packages do not have.
func runFile(h *sysroot.Host, environment string) bool {
	return h.OS == "linux" && environment != machine.WSL2 && h.Exists("/usr/bin/nvidia-uninstall")
}

// shutOut reports whether this is a container that was given no GPU. The host's
// kernel module and bus show through, and the image may bring a driver's
// libraries; neither makes a driver.
func shutOut(h *sysroot.Host, n nvidia, environment string) bool {
	inside := environment == machine.Container || environment == machine.ContainerBuild
	answered := n.report != nil && n.report.Return == nvmlchild.Success || n.smi != nil
	if !inside || answered || n.hasLibraries() && (h.Exists("/dev/nvidiactl") || h.Exists("/dev/nvidia0")) {
		return false
	}
	if v := n.kernel.version; !v.IsZero() && environment == machine.Container {
		h.Note("the host's NVIDIA driver is %s, but this container was started without GPU access", v)
	}
	return true
}

// barred is a line of modprobe's that does (modprobe.d(5)).
var barred = lazy.Regexp(`(?m)^[ \t]*(?:blacklist[ \t]+nvidia|alias[ \t]+nvidia[ \t]+off|install[ \t]+nvidia[ \t]+\S*(?:false|true))[ \t]*$`)

// whyNotLoaded says in a note what keeps an installed driver from being loaded,
// where files tell.
func whyNotLoaded(h *sysroot.Host, p machine.Platform) {
	for _, dir := range []string{"/etc/modprobe.d", "/run/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d"} {
		for _, name := range h.Names(dir) {
			if m := barred().FindString(h.Text(dir + "/" + name)); m != "" && strings.HasSuffix(name, ".conf") {
				h.Note("%s/%s%s%s", dir, name, machine.BarredBy, strings.TrimSpace(m))
				return
			}
		}
	}
	if p.Kernel == "" || !h.IsDir("/lib/modules/"+p.Kernel) && !h.IsDir("/var/lib/dkms/nvidia") {
		return
	}
	dir := "/lib/modules/" + p.Kernel
	places := strings.Fields("updates/dkms updates extra extra/nvidia kernel/drivers/video kernel/drivers/video/nvidia weak-updates/nvidia nvidia")
	for _, name := range h.Names(dir + "/kernel") { // Ubuntu's signed modules: kernel/nvidia-570-open
		if strings.HasPrefix(name, "nvidia-") {
			places = append(places, "kernel/"+name)
		}
	}
	for _, place := range places {
		place = dir + "/" + place
		for _, name := range h.Names(place) {
			if !strings.HasPrefix(name, "nvidia.ko") && !strings.HasPrefix(name, "nvidia-current.ko") {
				continue
			}
			if p.SecureBoot != nil && *p.SecureBoot {
				h.Note("%s/%s exists but is not loaded; Secure Boot is on and may have refused it", place, name)
			} else {
				h.Note("%s/%s exists but is not loaded", place, name)
			}
			return
		}
	}
	h.Note("no NVIDIA kernel module was found%s%s", machine.NotBuiltFor, p.Kernel)
}

// reportedDriver is what NVML or nvidia-smi say; nil: neither spoke.
func reportedDriver(h *sysroot.Host, n nvidia) *machine.Driver {
	switch r := n.report; {
	case r == nil || r.Return == nvmlchild.NoLibrary:
		if n.smi != nil && !n.smi.driver.IsZero() {
			return &machine.Driver{Version: n.smi.driver, Evidence: machine.FromSMI}
		}
		return nil
	case r.Return == nvmlchild.Success:
		v := plausible(r.Driver)
		if v.IsZero() {
			h.Note("nvml: %q is not a driver version; dropped", fmt.Sprintf("%.40s", text.Printable(r.Driver)))
			v = nvmlOwnVersion(r.NVML)
		}
		return &machine.Driver{Version: v, Evidence: machine.FromNVML}
	default:
		v := cmp.Or(nvmlOwnVersion(r.NVML), n.user)
		if v.IsZero() && n.kernel.version.IsZero() {
			return nil
		}
		return &machine.Driver{Version: v, Evidence: machine.FromNVML, NotLoaded: r.Return == nvmlchild.DriverNotLoaded && n.kernel.version.IsZero()}
	}
}

// driverOnDisk is what the kernel's files and the libraries' names say.
func driverOnDisk(h *sysroot.Host, n nvidia, environment string) *machine.Driver {
	loaded := n.kernel.version
	switch {
	case h.OS == "windows":
		if v := windowsDriver(); !v.IsZero() {
			return &machine.Driver{Version: v, Evidence: "registry"}
		}
		return nil
	case loaded.IsZero() && (n.user.IsZero() || environment == machine.WSL2): // a Linux driver's libraries mean nothing under WSL
		return nil
	case n.user.IsZero():
		if !n.hasLibraries() && environment != machine.Jetson {
			h.Note("the NVIDIA kernel module %s is loaded, but no NVIDIA library was found", loaded)
		}
		return &machine.Driver{Version: loaded, LoadedVersion: loaded, KernelModule: n.kernel.flavour, Evidence: machine.FromProc}
	}
	return &machine.Driver{Version: n.user, LoadedVersion: loaded, NotLoaded: loaded.IsZero(), KernelModule: n.kernel.flavour, Evidence: machine.FromProc}
}
