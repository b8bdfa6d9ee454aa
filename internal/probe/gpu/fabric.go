package gpu

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
)

var (
	// What a CDI file names on this host, as YAML or JSON (CDI's SPEC.md).
	cdiPath   = lazy.Regexp(`(?m)["']?\b(path|hostPath)["']?\s*:\s*["']?(/[^\s"',}]+)`)
	cdiNVIDIA = lazy.Regexp(`["']?kind["']?\s*:\s*["']?nvidia\.com/`)
	// A version in the name of one of the driver's libraries.
	libraryRelease = lazy.Regexp(`/lib(?:cuda|nvidia-ml)\.so\.(\d{2,4}\.\d{1,3}(?:\.\d{1,3})?)$`)
	fabricPackage  = lazy.Regexp(`(?m)^Package: (?:nvidia-fabricmanager|nvidia-fabric-manager|cuda-drivers-fabricmanager)[-\d]*\n(?:.+\n)*?Version: (?:\d+:)?(\d{2,4}\.\d{1,3}(?:\.\d{1,3})?)`)
	fabricRow      = lazy.Regexp(`(?m)^Package: nvidia-fabric-?manager[-\d]*\nStatus: install ok installed`)
)

// Switches counts NVSwitches: bridges of class 0680 that are NVIDIA's.
func Switches(h *sysroot.Host) int {
	const dir = "/sys/bus/pci/devices"
	n := 0
	for _, address := range h.Unsorted(dir) {
		at := dir + "/" + address
		if strings.HasPrefix(h.Text(at+"/class"), "0x0680") && hex4(h.Text(at+"/vendor")) == "10de" {
			n++
		}
	}
	return n
}

// Fabric looks for the fabric manager among the processes, of whose names the kernel
// keeps 15 bytes, and for its package.
func Fabric(h *sysroot.Host) *machine.Fabric {
	f := &machine.Fabric{}
	f.Running = slices.ContainsFunc(h.Procs().PIDs(), func(pid int) bool { return strings.HasPrefix(h.Procs().Of(pid).Name(), "nv-fabricmanage") })
	status := string(h.Bytes("/var/lib/dpkg/status", sysroot.MaxFile))
	if fabricRow().MatchString(status) {
		f.Package = fabricPackage.Group(status)
	}
	return f
}

// CDI reads the descriptions of NVIDIA's devices for containers, and looks whether what
// they name is there.
func CDI(h *sysroot.Host) (out []machine.CDISpec) {
	seen := map[string]bool{}
	for _, dir := range []string{"/etc/cdi", "/var/run/cdi", "/run/cdi"} {
		for _, name := range h.Names(dir) {
			file := dir + "/" + name
			real := h.Resolved(file)
			spec := h.Bytes(file, 1<<20)
			if seen[real] || !cdiNVIDIA().Match(spec) || len(out) == 20 {
				continue
			}
			seen[real] = true
			out = append(out, cdiSpec(h, file, string(spec)))
		}
	}
	return out
}

func cdiSpec(h *sysroot.Host, file, spec string) machine.CDISpec {
	s := machine.CDISpec{File: text.Printable(file)}
	for _, m := range cdiPath().FindAllStringSubmatch(spec, 2000) {
		named := path.Clean(m[2])
		if m[1] == "path" && !strings.HasPrefix(named, "/dev/") {
			continue // the program of a hook
		}
		s.Driver = cmp.Or(libraryRelease.Group(named), s.Driver)
		if !h.Exists(named) && len(s.Gone) < sysroot.MaxNamed && !slices.Contains(s.Gone, named) {
			s.Gone = append(s.Gone, text.Printable(named))
		}
	}
	return s
}
