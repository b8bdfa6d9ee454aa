package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"
)

// basis is what a plan stands on: a change of it makes another plan possible.
// Left out are facts that change while a plan is carried out or between two
// boots and change no decision: what is installed (planning again is what finds
// that nothing is left to do), the kernel's release, the boot's id, memory,
// notes, evidence and paths.
type basis struct {
	Platform  Platform
	Privilege string
	GPUs      []GPU
	Driver    *Driver
	Tools     []Tool
}

// planned are the tools whose paths stand in a plan's commands.
var planned = map[string]bool{
	"uv": true, "pip": true, "conda": true, "mamba": true, "micromamba": true, "sudo": true,
	"apt-get": true, "dnf": true, "yum": true, "zypper": true, "ubuntu-drivers": true,
}

func (m Machine) basis() basis {
	b := basis{Platform: m.Platform, Privilege: m.Privilege}
	b.Platform.Kernel, b.Platform.BootID, b.Platform.SecureBoot, b.Platform.Product = "", "", nil, ""
	b.Platform.Environment = cmp.Or(b.Platform.Environment, Bare)
	for _, g := range m.GPUs {
		g.MemoryBytes, g.Evidence, g.Subsystem, g.PCIAddress, g.KernelDriver, g.Use = 0, "", "", "", "", nil
		b.GPUs = append(b.GPUs, g)
	}
	if m.Driver != nil {
		d := *m.Driver
		d.Evidence = ""
		b.Driver = &d
	}
	for _, t := range m.Tools {
		if planned[t.Name] {
			b.Tools = append(b.Tools, Tool{Name: t.Name, Path: t.Path})
		}
	}
	return b
}

// Changes compares the facts that a plan was made from with those of now, and
// names each difference that could change the plan, such as
// "driver 550.54.14 → 570.26". It returns nil where the plan still holds.
func Changes(before, now Machine) []string {
	a, b := before.basis(), now.basis()
	var d differences
	d.text("operating system", system(a.Platform), system(b.Platform))
	d.text("architecture", a.Platform.Arch, b.Platform.Arch)
	d.text("C library", a.Platform.Libc.String(), b.Platform.Libc.String())
	d.text("environment", a.Platform.Environment, b.Platform.Environment)
	d.text("L4T", a.Platform.L4T, b.Platform.L4T)
	if b.Privilege == "none" { // a plan for a user may well be carried out by root
		d.text("privilege", a.Privilege, b.Privilege)
	}
	d.driver(a.Driver, b.Driver)
	d.gpus(a.GPUs, b.GPUs)
	d.tools(a.Tools, b.Tools)
	return d
}

type differences []string

func (d *differences) text(what, before, now string) {
	if before != now {
		*d = append(*d, fmt.Sprintf("%s %s → %s", what, text.Printable(cmp.Or(before, "unknown")), text.Printable(cmp.Or(now, "unknown"))))
	}
}

func (d *differences) driver(before, now *Driver) {
	was, loadedThen := before.words()
	is, loadedNow := now.words()
	d.text("driver", was, is)
	if before == nil || now == nil {
		return
	}
	d.text("kernel module", before.KernelModule, now.KernelModule)
	d.text("loaded driver", loadedThen, loadedNow)
}

// tools names those that are gone or at another place. A tool that came along
// changes no step.
func (d *differences) tools(before, now []Tool) {
	for _, t := range before {
		i := slices.IndexFunc(now, func(n Tool) bool { return n.Name == t.Name })
		switch {
		case i < 0:
			*d = append(*d, t.Name+" "+text.Printable(t.Path)+" → none")
		case now[i].Path != t.Path:
			d.text(t.Name, t.Path, now[i].Path)
		}
	}
}

func (d *differences) gpus(before, now []GPU) {
	for i := range max(len(before), len(now)) {
		switch {
		case i >= len(now):
			*d = append(*d, "GPU is gone: "+label(before[i]))
		case i >= len(before):
			*d = append(*d, "GPU is new: "+label(now[i]))
		default:
			d.gpu(before[i], now[i])
		}
	}
}

func (d *differences) gpu(a, b GPU) {
	if label(a) != label(b) {
		d.text(fmt.Sprintf("GPU %d", a.Index), label(a), label(b))
		return
	}
	n := fmt.Sprintf("GPU %d", b.Index)
	switch {
	case a.Visible != b.Visible:
		d.text(n, usable(a.Visible), usable(b.Visible))
	case a.MIG != b.MIG:
		d.text(n+": MIG", cmp.Or(a.MIG, "none"), cmp.Or(b.MIG, "none"))
	case a.UUID != b.UUID && a.UUID != "" && b.UUID != "":
		*d = append(*d, n+": another "+label(b)+" stands there")
	case a.Index != b.Index:
		*d = append(*d, fmt.Sprintf("%s has number %d instead of %d", label(b), b.Index, a.Index))
	}
}

// label names a GPU for people, such as "Tesla V100-SXM2-32GB (7.0)".
func label(g GPU) string {
	name := text.Printable(g.Name)
	name = cmp.Or(name, g.Vendor+" "+g.PCIID)
	return name + say.With(" (", say.Either(g.SM.IsZero(), text.Printable(g.GFX), g.SM.String()), ")")
}

func (d *Driver) words() (version, loaded string) {
	if d == nil {
		return "none", ""
	}
	loaded = d.LoadedVersion.String()
	version = cmp.Or(d.Version.String(), loaded)
	if d.NotLoaded {
		loaded = "not loaded"
	}
	return version, loaded
}

// String returns "glibc 2.39", or "" for nil.
func (l *Libc) String() string {
	if l == nil {
		return ""
	}
	return strings.TrimSpace(l.Kind + " " + l.Version.String())
}

func system(p Platform) string {
	return strings.TrimSpace(strings.Join([]string{p.OS, p.Distro, p.DistroVersion}, " "))
}

func usable(visible bool) string {
	return say.Either(visible, "usable", "not usable")
}
