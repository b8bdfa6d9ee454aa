package libraries

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// loaded: the dynamic loader takes another library than the one that torch's
// packages brought. What is not taken is no fault: LD_LIBRARY_PATH loses to the
// RPATH of torch's own libraries.
func loaded(e *evidence.Evidence, out *evidence.Findings) {
	said := e.From.Env["LD_LIBRARY_PATH"]
	for _, l := range e.Files.Loaded {
		if l.Wheel == "" || l.Path == "" || strings.HasPrefix(l.Name, "libcuda.so") {
			continue
		}
		check := "LD001"
		switch {
		case strings.HasPrefix(l.Name, "libcudnn_"):
			check = "LD010" // parts of two cuDNNs in one process
		case strings.HasPrefix(l.Name, "libcudnn"):
			check = "LD002"
		}
		brought := brought(e, l.Wheel)
		at := append([]evidence.Quote{evidence.Fact("%s asks for %s: %s (%s)", l.By, l.Name, l.Path, l.Via)},
			evidence.FromOrigins(l.Origins, l.Dir)...)
		at = append(at, evidence.Fact("torch's own: %s%s", l.Wheel, say.With(" (", brought, ")")), said)
		f := out.Find(check, evidence.Proven, at...).
			Says("%s%s is taken from %s%s in place of torch's own%s",
				l.Name, versionIn(l), evidence.DirOf(l), by(l.Via), say.With(" ", brought, ""))
		e.Repair().Away(f, l)
		if check != "LD010" && evidence.Newer(l.Version, brought) {
			f.As(evidence.Warning).Proof = evidence.Hint // NVIDIA keeps newer ones compatible within a major version
		}
	}
}

func by(via string) string {
	return say.If(strings.HasPrefix(via, "LD_"), " ("+via+")")
}

var toolkitDir = lazy.Regexp(`/cuda-(\d+\.\d+)\b`)

// versionIn is the version of a library as its file's name tells it, else that of
// the toolkit in whose directory it lies.
func versionIn(l machine.LoadedLibrary) string {
	if l.Version != "" {
		return " " + l.Version
	}
	return say.With(" of CUDA ", toolkitDir.Group(l.Path), "")
}

// ofOtherDriver reports whether a libcuda is of another driver than the one at work, and
// which; sure: what is known of that one need not come from the driver itself.
func ofOtherDriver(l machine.LoadedLibrary, d *machine.Driver, sure bool) (version.Dotted, bool) {
	v, err := version.ParseDotted(l.Version)
	return v, err == nil && v.Major() >= 100 && d != nil && !d.Version.IsZero() && v.Compare(d.Version) != 0 && (sure || d.Evidence == machine.FromNVML)
}

// driverStub: libcuda is the driver's, and no other. Stubs are for linking: a
// hundredth of the driver's library in size. The one of WSL is small by design. One of a
// compatibility package serves where it is newer than the driver, on GPUs for data centres.
// Source: docs.nvidia.com, CUDA compatibility, forward compatibility.
func driverStub(e *evidence.Evidence, out *evidence.Findings) {
	const smallest = 2 << 20 // bytes; the driver's is 15 MB and more
	d := e.Machine.Driver
	for _, l := range e.Files.Loaded {
		if l.Name != "libcuda.so.1" || strings.HasPrefix(l.Path, "/usr/lib/wsl/") {
			continue
		}
		variable, compat := strings.HasPrefix(l.Via, "LD_"), strings.Contains(l.Path, "/compat")
		v, other := ofOtherDriver(l, d, variable)
		said := evidence.Fact("libcuda.so.1: %s, %d bytes", l.Path, l.Size)
		switch {
		case (variable || strings.Contains(l.Path, "/stubs/")) && l.Size < smallest:
			e.Repair().Away(out.Find("DRV008", evidence.Proven, said, e.From.Env[l.Via]).
				Say(l.Via+" puts a stub of libcuda before the driver's: "+l.Path), l)
		case !other, compat && d.Version.Less(v) && !slices.ContainsFunc(e.GPU().Visible(), func(g machine.GPU) bool { return strings.Contains(g.Name, "GeForce") }):
		case compat:
			e.Repair().Away(out.Find("CTR011", evidence.Likely, said, e.From.Driver).
				Says("libcuda is that of a compatibility package for driver %s, and this is %s: such a one serves where it is newer, on GPUs for data centres alone (errors 803, 804)", v, d.Version), l)
		case variable:
			e.Repair().Away(out.Find("DRV008", evidence.Likely, said, e.From.Driver).
				Says("%s puts the libcuda of driver %s before that of driver %s: %s", l.Via, v, d.Version, l.Path), l)
		default:
			f := out.Find("DRV004", evidence.Likely, said, e.From.Driver).
				Says("libcuda.so.1 is of driver %s (%s), and the driver at work is %s: CUDA does not start with it", v, l.Path, d.Version).
				Do("install the driver's packages in one version, "+d.Version.String()+": libcuda.so.1 and libnvidia-ml.so.1 come from two (`sudo apt install --reinstall libnvidia-compute-"+fmt.Sprint(d.Version.Major())+"` on Ubuntu)",
					"then `sudo ldconfig`; in a container: take the libcuda out of the image, the host's is mounted")
			if d.Version.Less(v) {
				f.Do(slices.Insert(f.Fix, 0, "reboot, where an upgrade brought it: the kernel still runs the driver of before")...)
			}
		}
	}
}

// brought is the version of the package that brought a file of the environment:
// …/site-packages/nvidia/cudnn/lib/… is of nvidia-cudnn-cu12.
func brought(e *evidence.Evidence, file string) string {
	_, rest, ok := strings.Cut(file, "/nvidia/")
	part, _, _ := strings.Cut(rest, "/")
	if !ok {
		return ""
	}
	d, _ := xslices.Find(e.Files.Dists, func(d machine.DistFiles) bool {
		library, _, ok := evidence.NVIDIAPackage(d.Name)
		return ok && strings.ReplaceAll(library, "-", "_") == part
	})
	return d.Version
}
