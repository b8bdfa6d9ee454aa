package probe

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/version"
)

// An nvidia is all that was seen of NVIDIA's hardware and driver, by source. What
// it adds up to is decided in one place, below.
type nvidia struct {
	report *nvmlReport // nil: NVML was not asked, or gave no report
	hung   bool        // NVML did not answer
	smi    *smiReport  // nil: not asked, or no answer
	bus    []pciGPU    // NVIDIA's GPUs on the bus
	kernel kernelModule
	user   version.Dotted // of the libraries on disk
	found  []string       // paths of NVIDIA's management library
	cuda   []string       // paths of the driver's CUDA library
}

// hasLibraries reports whether there is any user space at all.
func (n nvidia) hasLibraries() bool { return len(n.found) > 0 || len(n.cuda) > 0 }

// A kernelModule is the loaded NVIDIA module, as the kernel's files tell.
type kernelModule struct {
	version version.Dotted
	flavour string            // open, proprietary; "" unknown
	gpus    []string          // addresses of the GPUs that it drives
	models  map[string]string // by address
	uuids   map[string]string // by address; unknown where the user may not know them
}

var (
	moduleText = lazy(`Kernel Module[^\n]*?\s(\d{2,4}\.\d{1,3}(?:\.\d{1,3})?)\b`)
	libVersion = lazy(`^lib(?:nvidia-ml|cuda)\.so\.(\d{2,4}\.\d{1,3}(?:\.\d{1,3})?)$`)
)

// parseModule reads /proc/driver/nvidia/version. The open module calls itself
// "NVIDIA UNIX Open Kernel Module for x86_64  595.45.04", the proprietary one
// "NVIDIA UNIX x86_64 Kernel Module  535.129.03".
func parseModule(s string) (v version.Dotted, flavour string) {
	m := moduleText().FindStringSubmatch(s)
	if m == nil {
		return version.Dotted{}, ""
	}
	if v = dotted(m[1]); !machine.PlausibleDriver(v) {
		return version.Dotted{}, ""
	}
	if strings.Contains(s, "Open Kernel Module") {
		return v, "open"
	}
	return v, "proprietary"
}

// kernelModule reads what the loaded module says about itself.
func (h *host) kernelModule() kernelModule {
	const dir = "/proc/driver/nvidia/gpus"
	var k kernelModule
	k.version, k.flavour = parseModule(h.text("/proc/driver/nvidia/version"))
	if v := dotted(h.text("/sys/module/nvidia/version")); machine.PlausibleDriver(v) {
		k.version = v
	}
	k.models, k.uuids = map[string]string{}, map[string]string{}
	for _, address := range h.names(dir) {
		k.gpus = append(k.gpus, address)
		for line := range strings.Lines(h.text(dir + "/" + address + "/information")) {
			if name, ok := strings.CutPrefix(line, "Model:"); ok {
				k.models[address] = machine.Printable(strings.TrimSpace(name))
			}
			if id, ok := strings.CutPrefix(line, "GPU UUID:"); ok && !strings.Contains(id, "?") {
				k.uuids[address] = machine.Printable(strings.TrimSpace(id))
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
func (h *host) libraryDirs() []string {
	dirs := []string{wslLibraries}
	for _, d := range strings.Split(h.env["LD_LIBRARY_PATH"], ":") {
		if path.IsAbs(d) && !strings.Contains(d+"/", "/stubs/") {
			dirs = append(dirs, path.Clean(d))
		}
	}
	for _, triple := range []string{"x86_64-linux-gnu", "aarch64-linux-gnu"} {
		dirs = append(dirs, "/usr/lib/"+triple, "/usr/lib/"+triple+"/nvidia/current", "/usr/lib/"+triple+"/nvidia")
	}
	return append(dirs, "/usr/lib64", "/usr/lib", "/lib64", "/lib", "/usr/lib64/nvidia", "/usr/local/nvidia/lib64", "/run/opengl-driver/lib",
		"/usr/local/lib", "/opt/nvidia/lib64", "/home/kubernetes/bin/nvidia/lib64")
}

// libraries finds the driver's libraries, and the version of the user space,
// which the names of their files carry.
func (h *host) libraries(n *nvidia) {
	for _, dir := range h.libraryDirs() {
		if !h.isDir(dir) {
			continue
		}
		for _, name := range []string{"/libnvidia-ml.so.1", "/libcuda.so.1"} {
			if !h.exists(dir + name) {
				continue
			}
			if name == "/libcuda.so.1" {
				n.cuda = append(n.cuda, dir+name)
			} else {
				n.found = append(n.found, dir+name)
			}
			if m := libVersion().FindStringSubmatch(path.Base(h.resolved(dir + name))); m != nil && n.user.IsZero() {
				n.user = plausible(m[1])
			}
		}
	}
}

// wslShadows notes the libraries of a Linux driver under WSL, where they keep
// programs from the ones of Windows.
func (h *host) wslShadows(n nvidia) {
	for _, file := range append(slices.Clone(n.cuda), n.found...) {
		if !strings.HasPrefix(h.resolved(file), wslLibraries) && !strings.HasPrefix(h.resolved(file), "/usr/lib/wsl/") {
			h.note("%s is a Linux driver's; under WSL it shadows the one of Windows in %s", file, wslLibraries)
		}
	}
}

// inLoaderCache reports whether the loader would find NVIDIA's library in a
// place that we do not know.
func (h *host) inLoaderCache() bool {
	return strings.Contains(string(h.bytes("/etc/ld.so.cache", maxFile)), "libnvidia-ml.so.1")
}

func plausible(s string) version.Dotted {
	if v := dotted(s); machine.PlausibleDriver(v) {
		return v
	}
	return version.Dotted{}
}

// nvidia gathers from every source, the best first, and asks nvidia-smi only
// where that could still add something.
func (h *host) nvidia(ctx context.Context, o Options, environment string, bus []pciGPU) nvidia {
	var n nvidia
	for _, p := range bus {
		if p.Vendor == "10de" {
			n.bus = append(n.bus, p)
		}
	}
	h.libraries(&n)
	n.kernel = h.kernelModule()
	if environment == machine.WSL2 {
		h.wslShadows(n)
	}
	h.nvml(ctx, o, environment, &n)
	answered := n.report != nil && n.report.Return != nvmlNoLibrary
	if !answered && !n.hung && h.mayAskSMI(o, environment, n) {
		n.smi = h.askSMI(ctx, o)
	}
	return n
}

// nvml asks the child where there is a library to load.
func (h *host) nvml(ctx context.Context, o Options, environment string, n *nvidia) {
	var libraries []string
	switch {
	case o.NVML == "off":
		h.note("nvml: switched off")
		return
	case o.NVML != "":
		libraries = []string{o.NVML}
	case h.root != "" || h.os != "linux":
		return
	case environment == machine.WSL2:
		libraries = append([]string{wslLibraries + "/libnvidia-ml.so.1", ""}, n.found...)
	default:
		libraries = append([]string{""}, n.found...)
	}
	if o.NVML == "" && len(n.found) == 0 && !h.inLoaderCache() {
		if len(n.bus) > 0 || !n.kernel.version.IsZero() || environment == machine.WSL2 {
			h.note("nvml: library not found")
		}
		return
	}
	if !HasNVML || o.Self == "" {
		h.note("nvml: this build cannot load NVIDIA's library; the kernel's files and nvidia-smi are read instead")
		return
	}
	n.report, n.hung = h.askNVML(ctx, o, libraries)
	if n.report == nil {
		return
	}
	switch w := n.report.words(); {
	case n.report.Return == nvmlDriverNotLoaded && !n.kernel.version.IsZero():
		h.note("nvml: the kernel module %s is loaded, but NVIDIA's library cannot reach it; /dev/nvidiactl is missing or closed to us", n.kernel.version)
	case w != "":
		h.note("%s", w)
	}
	for _, p := range n.report.Problems {
		h.note("nvml: %s", p)
	}
}

// driver adds everything up to the driver; nil: there is none.
func (h *host) driver(n nvidia, environment string) *machine.Driver {
	if h.shutOut(n, environment) {
		return nil
	}
	d := h.reportedDriver(n)
	if d == nil {
		return h.driverOnDisk(n, environment)
	}
	if environment == machine.WSL2 || h.os == "windows" { // the Windows driver; no kernel module here
		return d
	}
	d.KernelModule = n.kernel.flavour
	if !d.NotLoaded {
		d.LoadedVersion = n.kernel.version
	}
	if d.Version.IsZero() {
		d.Version = n.kernel.version
	}
	if d.Version.IsZero() {
		return nil
	}
	return d
}

// shutOut reports whether this is a container that was given no GPU. The host's
// kernel module and bus show through, and the image may bring a driver's
// libraries; neither makes a driver.
func (h *host) shutOut(n nvidia, environment string) bool {
	if environment != machine.Container && environment != machine.ContainerBuild {
		return false
	}
	if n.report != nil && n.report.Return == nvmlSuccess || n.smi != nil {
		return false
	}
	if n.hasLibraries() && (h.exists("/dev/nvidiactl") || h.exists("/dev/nvidia0")) {
		return false
	}
	if v := n.kernel.version; !v.IsZero() && environment == machine.Container {
		h.note("the host's NVIDIA driver is %s, but this container was started without GPU access", v)
	}
	return true
}

// whyNotLoaded says in a note what keeps an installed driver from being loaded,
// where files tell.
func (h *host) whyNotLoaded(p machine.Platform) {
	if p.Kernel == "" || !h.isDir("/lib/modules/"+p.Kernel) {
		return
	}
	dir := "/lib/modules/" + p.Kernel
	places := []string{dir + "/updates/dkms", dir + "/updates", dir + "/extra", dir + "/extra/nvidia", dir + "/kernel/drivers/video", dir + "/kernel/drivers/video/nvidia", dir + "/weak-updates/nvidia", dir + "/nvidia"}
	for _, name := range h.names(dir + "/kernel") { // Ubuntu's signed modules: kernel/nvidia-570-open
		if strings.HasPrefix(name, "nvidia-") {
			places = append(places, dir+"/kernel/"+name)
		}
	}
	for _, place := range places {
		for _, name := range h.names(place) {
			if !strings.HasPrefix(name, "nvidia.ko") && !strings.HasPrefix(name, "nvidia-current.ko") {
				continue
			}
			if p.SecureBoot != nil && *p.SecureBoot {
				h.note("%s/%s exists but is not loaded; Secure Boot is on and may have refused it", place, name)
			} else {
				h.note("%s/%s exists but is not loaded", place, name)
			}
			return
		}
	}
	h.note("no NVIDIA kernel module was found for the running kernel %s; it was not built for it", p.Kernel)
}

// reportedDriver is what NVML or nvidia-smi say; nil: neither spoke.
func (h *host) reportedDriver(n nvidia) *machine.Driver {
	switch r := n.report; {
	case r == nil || r.Return == nvmlNoLibrary:
		if n.smi != nil && !n.smi.driver.IsZero() {
			return &machine.Driver{Version: n.smi.driver, Evidence: machine.FromSMI}
		}
		return nil
	case r.Return == nvmlSuccess:
		v := plausible(r.Driver)
		if v.IsZero() {
			h.note("nvml: %q is not a driver version; dropped", fmt.Sprintf("%.40s", machine.Printable(r.Driver)))
			v = nvmlOwnVersion(r.NVML)
		}
		return &machine.Driver{Version: v, Evidence: machine.FromNVML}
	default:
		v := nvmlOwnVersion(r.NVML)
		if v.IsZero() {
			v = n.user
		}
		if v.IsZero() && n.kernel.version.IsZero() {
			return nil
		}
		return &machine.Driver{Version: v, Evidence: machine.FromNVML, NotLoaded: r.Return == nvmlDriverNotLoaded && n.kernel.version.IsZero()}
	}
}

// driverOnDisk is what the kernel's files and the libraries' names say.
func (h *host) driverOnDisk(n nvidia, environment string) *machine.Driver {
	loaded := n.kernel.version
	switch {
	case h.os == "windows":
		if v := windowsDriver(); !v.IsZero() {
			return &machine.Driver{Version: v, Evidence: "registry"}
		}
		return nil
	case loaded.IsZero() && (n.user.IsZero() || environment == machine.WSL2): // a Linux driver's libraries mean nothing under WSL
		return nil
	case n.user.IsZero():
		if !n.hasLibraries() && environment != machine.Jetson {
			h.note("the NVIDIA kernel module %s is loaded, but no NVIDIA library was found", loaded)
		}
		return &machine.Driver{Version: loaded, LoadedVersion: loaded, KernelModule: n.kernel.flavour, Evidence: machine.FromProc}
	}
	return &machine.Driver{Version: n.user, LoadedVersion: loaded, NotLoaded: loaded.IsZero(), KernelModule: n.kernel.flavour, Evidence: machine.FromProc}
}

// nvidiaGPUs lists the GPUs: those that NVML or nvidia-smi name, and those on the
// bus that neither does, which are not usable.
func (h *host) nvidiaGPUs(n nvidia, d *machine.Driver, o Options) []machine.GPU {
	var out []machine.GPU
	rest := n.bus
	switch {
	case n.report != nil && n.report.Return == nvmlSuccess:
		for _, g := range n.report.GPUs {
			var p pciGPU
			var onBus bool
			p, rest, onBus = takeAddress(rest, g.PCIBus)
			out = append(out, h.reported(g, p, onBus, o)...)
		}
	case n.smi != nil:
		for _, s := range n.smi.gpus {
			p, left, onBus := takeAddress(rest, s.PCIAddress)
			rest = left
			out = append(out, withBus(s, p, onBus, o))
		}
	}
	for _, p := range rest {
		g := p.gpu(o.Device)
		if name := n.kernel.models[p.Address]; name != "" {
			g.Name = name
		}
		g.UUID = n.kernel.uuids[p.Address]
		g.Visible = h.usableByFiles(n, d, p)
		if g.Visible {
			g.Evidence = machine.FromProc
		}
		out = append(out, g)
	}
	for i := range out {
		out[i].Integrated = out[i].Integrated || integrated(out[i].Name)
	}
	return out
}

// usableByFiles judges a GPU without NVML: the kernel module lists it, and the
// user space is of the module's version.
func (h *host) usableByFiles(n nvidia, d *machine.Driver, p pciGPU) bool {
	if n.report != nil || n.smi != nil || n.hung || d == nil || d.NotLoaded || p.Driver != "nvidia" {
		return false
	}
	if !n.hasLibraries() || !n.user.IsZero() && n.user.Compare(n.kernel.version) != 0 {
		return false
	}
	for _, address := range n.kernel.gpus {
		if sameAddress(address, p.Address) {
			return true
		}
	}
	return false
}

// reported turns one device of NVML into GPUs: itself, or its slices.
func (h *host) reported(g nvmlGPU, p pciGPU, onBus bool, o Options) []machine.GPU {
	whole := h.fromNVML(g)
	whole.PCIAddress = shortAddress(g.PCIBus)
	if whole.PCIAddress != "" && g.PCIDevice != 0 {
		whole.PCIID = fmt.Sprintf("%04x:%04x", g.PCIDevice&0xffff, g.PCIDevice>>16)
	}
	if g.PCISub != 0 {
		whole.Subsystem = fmt.Sprintf("%04x:%04x", g.PCISub&0xffff, g.PCISub>>16)
	}
	whole = withBus(whole, p, onBus, o)
	if !g.MIG {
		return []machine.GPU{whole}
	}
	if len(g.Slices) == 0 {
		h.note("%s is in MIG mode and has no slices: nothing can use it", whole.Name)
		whole.Visible = false
		return []machine.GPU{whole}
	}
	var out []machine.GPU
	for _, s := range g.Slices {
		slice := h.fromNVML(s)
		slice.PCIAddress, slice.PCIID, slice.Subsystem, slice.KernelDriver = whole.PCIAddress, whole.PCIID, whole.Subsystem, whole.KernelDriver
		_, profile, _ := strings.Cut(slice.Name, " MIG ")
		slice.Name, slice.MIG = whole.Name, profile
		if slice.MIG == "" {
			slice.MIG = "unknown"
		}
		out = append(out, slice)
	}
	return out
}

// fromNVML takes what NVML says about a device and drops what cannot be.
func (h *host) fromNVML(g nvmlGPU) machine.GPU {
	out := machine.GPU{Vendor: machine.NVIDIA, Name: machine.Printable(g.Name), UUID: machine.Printable(g.UUID), Visible: true, Evidence: machine.FromNVML}
	if len(out.Name) > 200 {
		out.Name = ""
	}
	sm, err := machine.ParseSM(fmt.Sprintf("%d.%d", g.Major, g.Minor))
	if err == nil {
		out.SM = sm
	} else if g.Major != 0 || g.Minor != 0 {
		h.note("nvml: %d.%d is not a compute capability; dropped", g.Major, g.Minor)
	}
	if g.Memory <= 1<<50 {
		out.MemoryBytes = int64(g.Memory)
	} else {
		h.note("nvml: %d bytes are not a GPU's memory; dropped", g.Memory)
	}
	return out
}

// withBus completes a GPU by what the bus and the device table know of it. A
// driver older than the GPU calls it "Graphics Device" or "NVIDIA Graphics
// Device".
func withBus(g machine.GPU, p pciGPU, onBus bool, o Options) machine.GPU {
	if onBus {
		g.PCIID, g.KernelDriver = p.Vendor+":"+p.Device, p.Driver
		if g.Subsystem == "" && p.SubVendor != "" && p.SubVendor != "0000" {
			g.Subsystem = p.SubVendor + ":" + p.SubDevice
		}
	}
	if !strings.HasSuffix(g.Name, "Graphics Device") && g.Name != "" && !g.SM.IsZero() || o.Device == nil || g.PCIID == "" {
		return g
	}
	id := PCI{}
	id.Vendor, id.Device, _ = strings.Cut(g.PCIID, ":")
	id.SubVendor, id.SubDevice, _ = strings.Cut(g.Subsystem, ":")
	if d, ok := o.Device(id); ok {
		if g.Name == "" || strings.HasSuffix(g.Name, "Graphics Device") {
			g.Name = machine.Printable(d.Name)
		}
		if g.SM.IsZero() {
			g.SM = d.SM
		}
	}
	return g
}

// integrated knows NVIDIA's GPUs that share the CPU's memory by their names:
// "Orin (nvgpu)", "NVIDIA Thor", "NVIDIA GB10".
func integrated(name string) bool {
	for _, mark := range []string{"(nvgpu)", "Thor", "GB10", "Tegra", "Jetson"} {
		if strings.Contains(name, mark) {
			return true
		}
	}
	return false
}

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
func (h *host) jetson(gpus []machine.GPU) []machine.GPU {
	d, ok := tegraGPUs[h.tegra()]
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
	if model := machine.Printable(h.text("/proc/device-tree/model")); model != "" && len(model) < 200 {
		d.Name = model
	}
	usable := h.exists("/dev/nvhost-gpu") || h.exists("/dev/nvgpu") || h.exists("/dev/nvmap") || h.exists("/dev/nvidiactl")
	return []machine.GPU{{Vendor: machine.NVIDIA, Name: d.Name, SM: d.SM, Integrated: true, Visible: usable, Evidence: "device-tree"}}
}

// sharedMemory gives NVIDIA's GPUs that share the CPU's memory that size: NVML
// does not support the question there.
func (h *host) sharedMemory(gpus []machine.GPU) {
	for i := range gpus {
		g := &gpus[i]
		if !g.Integrated || g.MemoryBytes > 0 {
			continue
		}
		var kib int64
		if _, err := fmt.Sscanf(h.text("/proc/meminfo"), "MemTotal: %d kB", &kib); err == nil && kib > 0 && kib < 1<<40 {
			g.MemoryBytes = kib << 10
		}
	}
}
