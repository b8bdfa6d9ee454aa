package ui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
)

// Facts lays a machine out for people, in at most [Width] columns. Verbose lists
// every package, tool and variable, and says how each fact is known.
func Facts(m machine.Machine, verbose bool, s Style) string {
	f := factSheet{s: s, verbose: verbose}
	f.section("System", systemRows(m))
	f.section("GPUs", f.gpuRows(m))
	if use := GPUUse(m, verbose, s); use != "" {
		f.b.WriteString("\n" + use)
	}
	f.section("NVIDIA driver", f.driverRows(m))
	f.section("CUDA toolkits", text.Each(m.Toolkits, func(t machine.Toolkit) [2]string { return [2]string{t.Version.String(), Clean(t.Path)} }))
	f.section("Pythons", f.pythonRows(m))
	f.section("Installed", f.installedRows(m))
	f.section("Tools", f.toolRows(m))
	f.section("Environment variables", f.envRows(m))
	f.section("Notes", noteRows(m))
	return f.b.String()
}

type factSheet struct {
	b       strings.Builder
	s       Style
	verbose bool
}

// rows are facts with their names.
type rows [][2]string

// add adds a fact, where it is known.
func (r *rows) add(name, fact string) {
	if fact != "" {
		*r = append(*r, [2]string{Clean(name), Clean(fact)})
	}
}

func (f *factSheet) section(title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	f.b.WriteString(say.If(f.b.Len() > 0, "\n"))
	f.b.WriteString(f.s.Bold(title) + "\n")
	f.b.WriteString(Columns(rows, 2))
}

func systemRows(m machine.Machine) (r rows) {
	p := m.Platform
	r.add("system", joined(p.OS, p.Distro, p.DistroVersion, p.Arch))
	if p.Libc != nil {
		r.add("C library", p.Libc.String())
	}
	r.add("kernel", p.Kernel)
	kind := map[string]string{
		machine.WSL2: "WSL 2", machine.Container: "a container", machine.ContainerBuild: "a container that builds an image",
		machine.Jetson: "a Jetson", machine.HPCLogin: "a cluster's login node",
	}[p.Environment]
	if kind != "" {
		r.add("kind", joined(kind, p.L4T))
	}
	if p.SecureBoot != nil && *p.SecureBoot {
		r.add("Secure Boot", "on")
	}
	r.add("privilege", map[string]string{"root": "root", "sudo": "may use sudo", "none": "none: cannot install system packages"}[m.Privilege])
	return r
}

func (f *factSheet) gpuRows(m machine.Machine) [][2]string {
	if len(m.GPUs) == 0 {
		return [][2]string{{"none", "no GPU was found"}}
	}
	var rows [][2]string
	for _, g := range m.GPUs {
		code := say.Either(!g.SM.IsZero(), "compute capability "+g.SM.String(), say.If(g.Vendor == machine.NVIDIA, "compute capability unknown"))
		text := say.List(", ", Clean(g.Name), cmp.Or(say.If(g.SM.IsZero(), Clean(g.GFX)), code), say.With("MIG ", Clean(g.MIG), ""),
			say.If(g.MemoryBytes > 0, fmt.Sprintf("%.1f GiB", float64(g.MemoryBytes)/(1<<30))), say.If(g.Integrated, "shares the CPU's memory"),
			say.If(!g.Visible, "not usable: "+whyNot(g, m.Driver)),
			say.If(f.verbose, Clean(joined(g.UUID, g.PCIAddress, g.PCIID))), say.If(f.verbose, knownFrom(g.Evidence)))
		rows = append(rows, [2]string{fmt.Sprint(g.Index), text})
	}
	return rows
}

// whyNot says in words what keeps a GPU from being used.
func whyNot(g machine.GPU, d *machine.Driver) string {
	switch {
	case g.KernelDriver == "nouveau":
		return "the nouveau driver holds it, not NVIDIA's"
	case g.KernelDriver == "vfio-pci":
		return "it is passed through to a virtual machine"
	case g.Vendor == machine.NVIDIA && d == nil:
		return "there is no NVIDIA driver"
	case g.Vendor == machine.NVIDIA && d.NotLoaded:
		return "the driver's kernel module is not loaded"
	case g.Vendor == machine.AMD:
		return "the amdgpu driver does not show it to ROCm"
	}
	return "the driver does not list it"
}

func (f *factSheet) driverRows(m machine.Machine) (r rows) {
	d := m.Driver
	if d == nil {
		if slices.ContainsFunc(m.GPUs, func(g machine.GPU) bool { return g.Vendor == machine.NVIDIA }) {
			r.add("none", "no NVIDIA driver is installed")
		}
		return r
	}
	version := d.Version.String() + say.If(m.Platform.Environment == machine.WSL2, " (the Windows driver)")
	r = append(r, [2]string{"version", version})
	switch {
	case d.NotLoaded:
		r.add("kernel module", "not loaded")
	case !d.LoadedVersion.IsZero() && d.LoadedVersion.Compare(d.Version) != 0:
		r.add("kernel module", d.LoadedVersion.String()+": not the version of the library; reboot")
	}
	if d.KernelModule != "" {
		r.add("flavour", d.KernelModule+" kernel module")
	}
	if f.verbose {
		r.add("known", knownFrom(d.Evidence))
	}
	return r
}

func (f *factSheet) pythonRows(m machine.Machine) [][2]string {
	var rows [][2]string
	for i, p := range m.Pythons {
		if i == 8 && !f.verbose {
			rows = append(rows, [2]string{"…", fmt.Sprintf("%d more: `envfix facts -v`", len(m.Pythons)-i)})
			break
		}
		marks := say.List(", ", say.If(p.Active, "active"), say.If(p.ExternallyManaged, "externally managed"), say.If(p.FreeThreaded, "free-threaded"),
			say.If(p.Source != "system", say.With("from ", Clean(p.Source), "")), Clean(p.Arch))
		rows = append(rows, [2]string{Clean(p.Version), Clean(p.Path) + say.With(" (", marks, ")")})
	}
	return rows
}

// related are the packages that facts show without being asked.
func related(name string) bool {
	return strings.HasPrefix(name, "torch") || strings.HasPrefix(name, "nvidia-") || strings.HasPrefix(name, "cuda-") ||
		slices.Contains([]string{"triton", "numpy", "xformers", "flash-attn", "vllm", "bitsandbytes", "transformers", "jax", "tensorflow"}, name)
}

func (f *factSheet) installedRows(m machine.Machine) [][2]string {
	var rows [][2]string
	hidden := 0
	for _, p := range m.Installed {
		if !f.verbose && !related(p.Name) {
			hidden++
			continue
		}
		text := Clean(p.Version)
		switch {
		case p.CUDA != nil && *p.CUDA == "":
			text += " (built without CUDA)"
		case p.CUDA != nil:
			text += " (CUDA " + Clean(*p.CUDA) + ")"
		}
		rows = append(rows, [2]string{Clean(p.Name), text})
	}
	if hidden > 0 {
		rows = append(rows, [2]string{"…", fmt.Sprintf("%d other packages: `envfix facts -v`", hidden)})
	}
	return rows
}

func (f *factSheet) toolRows(m machine.Machine) (r rows) {
	if !f.verbose {
		r.add("found", strings.Join(text.Each(m.Tools, func(t machine.Tool) string { return t.Name }), " "))
		return r
	}
	r = append(r, text.Each(m.Tools, func(t machine.Tool) [2]string { return [2]string{Clean(t.Name), Clean(joined(t.Path, t.Version))} })...)
	return r
}

// A container's NVIDIA_REQUIRE_CUDA has 1,500 characters: JSON has them all.
const longestValue = 600

func (f *factSheet) envRows(m machine.Machine) [][2]string {
	var rows [][2]string
	for _, name := range slices.Sorted(maps.Keys(m.Env)) {
		if name == "PATH" && !f.verbose {
			continue
		}
		rows = append(rows, [2]string{Clean(name), Clean(text.Cut(m.Env[name], longestValue))})
	}
	return rows
}

func noteRows(m machine.Machine) (r rows) {
	for _, n := range m.Notes {
		r.add("-", n)
	}
	return r
}

func knownFrom(evidence string) string { return say.With("known from ", Clean(evidence), "") }

func joined(words ...string) string { return say.List(" ", words...) }
