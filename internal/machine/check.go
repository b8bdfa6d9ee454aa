package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"envfix/internal/lazy"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
)

// The bounds of what a machine can be. They are wide: their work is to refuse
// nonsense, which would otherwise become a nonsensical plan.
const (
	maxList   = 4096    // entries of a list
	maxText   = 32768   // bytes of one text; a PATH of a few hundred entries fits
	maxName   = 256     // bytes of a name or a version
	maxGPUs   = 1024    // 16 GPUs of 7 slices each are 112
	maxMemory = 1 << 50 // bytes of one GPU: 1 PiB
)

var (
	plainWord = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)
	gfxTarget = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]*(:[a-z]+[+-])*$`) // with the features that rocminfo adds: gfx90a:sramecc+:xnack-
	pciID     = lazy.Regexp(`^[0-9a-f]{4}:[0-9a-f]{4}$`)
	pythonish = lazy.Regexp(`^[23]\.\d{1,2}(\.\d{1,3})?((a|b|rc)\d{1,3})?\+?t?$`)
)

// Normal returns the facts in the form that Decode gives them: no nil lists, one
// name for each thing, no control characters in names.
//
// What exceeds the bounds of Decode is cut off, so that facts that were gathered
// can always be read again.
func Normal(m Machine) Machine {
	m.Format = Format
	m.GPUs = slices.Clone(head(m.GPUs, maxGPUs))
	m.Toolkits, m.Pythons, m.Tools, m.Notes = head(m.Toolkits, maxList), head(m.Pythons, maxList), head(m.Tools, maxList), head(m.Notes, maxList)
	m.Installed = slices.DeleteFunc(slices.Clone(m.Installed), func(p Package) bool { return len(p.Name) > maxName || len(p.Version) > maxName })
	m.Installed = head(m.Installed, maxList)
	m.normalise()
	for i := range m.GPUs {
		m.GPUs[i].Name = clipTo(m.GPUs[i].Name, maxName)
	}
	return m
}

func head[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// clipTo shortens s to at most n bytes without cutting a character.
func clipTo(s string, n int) string {
	for len(s) > n {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

// normalise brings hand-written facts to the form that Encode writes.
func (m *Machine) normalise() {
	m.fill()
	p := &m.Platform
	p.OS, p.Arch = NormalPlatform(p.OS, p.Arch)
	p.Environment = strings.ToLower(p.Environment)
	p.Distro = strings.ToLower(text.Printable(p.Distro))
	p.Kernel, p.Product = text.Printable(p.Kernel), text.Printable(p.Product)
	numbered := len(m.GPUs) < 2 || slices.ContainsFunc(m.GPUs, func(g GPU) bool { return g.Index != 0 })
	for i := range m.GPUs {
		g := &m.GPUs[i]
		if !numbered { // written by hand, without indexes
			g.Index = i
		}
		g.Name = text.Printable(g.Name)
		g.Vendor = strings.ToLower(g.Vendor)
		g.PCIID = strings.ToLower(strings.ReplaceAll(g.PCIID, "0x", ""))
		g.Vendor = cmp.Or(g.Vendor, vendorOf(*g))
	}
	for i := range m.Installed {
		m.Installed[i].Name = NormalName(m.Installed[i].Name)
	}
	m.normalUse()
}

// NormalPlatform returns the names that facts use for an operating system and a
// machine architecture: amd64 is x86_64 everywhere, arm64 is aarch64 on Linux
// and the other way round elsewhere, darwin is macos.
func NormalPlatform(os, arch string) (string, string) {
	os, arch = strings.ToLower(os), strings.ToLower(arch)
	if os == "darwin" {
		os = "macos"
	}
	switch arch {
	case "amd64", "x86-64", "x64":
		arch = "x86_64"
	case "arm64", "aarch64":
		arch = "arm64"
		if os == "linux" || os == "" {
			arch = "aarch64"
		}
	}
	return os, arch
}

// NormalName normalises the name of a Python distribution (PEP 503).
func NormalName(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == '-' || r == '_' || r == '.' }), "-")
}

func vendorOf(g GPU) string {
	switch {
	case strings.HasPrefix(g.PCIID, "1002:") || g.GFX != "":
		return AMD
	case strings.HasPrefix(g.PCIID, "8086:"):
		return Intel
	}
	return NVIDIA
}

// check refuses what no machine can be. Its error names the field.
func (m *Machine) check() error {
	return cmp.Or(m.checkSizes(), m.checkPlatform(), m.checkGPUs(), m.checkUse(), m.checkDriver(), m.checkSoftware(), m.DriverPackages.check())
}

func (m *Machine) checkSizes() error {
	for _, l := range []struct {
		name string
		n    int
	}{
		{"gpus", len(m.GPUs)}, {"cuda_toolkits", len(m.Toolkits)}, {"pythons", len(m.Pythons)}, {"installed", len(m.Installed)},
		{"tools", len(m.Tools)}, {"env", len(m.Env)}, {"notes", len(m.Notes)}, {"library_dirs", len(m.LibraryDirs)},
	} {
		most := say.Either(l.name == "gpus", maxGPUs, maxList)
		if l.n > most {
			return fmt.Errorf("%s: %d entries; no machine has more than %d", l.name, l.n, most)
		}
	}
	for name, v := range m.Env {
		if len(v) > maxText || len(name) > 256 {
			return fmt.Errorf("env: a variable of more than %d KiB", maxText>>10)
		}
	}
	return nil
}

func (m *Machine) checkPlatform() error {
	p := m.Platform
	var arch, libc error
	if !plainWord().MatchString(p.Arch) || len(p.Arch) > 32 {
		arch = fmt.Errorf("platform.arch: %q is not an architecture such as x86_64 or aarch64", text.Cut(p.Arch, 60))
	}
	if p.Libc != nil {
		libc = oneOf("platform.libc.kind", p.Libc.Kind, "glibc", "musl")
	}
	return cmp.Or(oneOf("platform.os", p.OS, "linux", "windows", "macos"), arch, libc,
		noneOr("platform.environment", p.Environment, Bare, WSL2, Container, ContainerBuild, Jetson, HPCLogin),
		noneOr("privilege", m.Privilege, "root", "sudo", "none"))
}

func (m *Machine) checkGPUs() error {
	seen := map[int]bool{}
	for i, g := range m.GPUs {
		field := fmt.Sprintf("gpus[%d]", i)
		if err := oneOf(field+".vendor", g.Vendor, NVIDIA, AMD, Intel, Apple); err != nil {
			return err
		}
		switch {
		case g.Index < 0 || g.Index > 9999:
			return fmt.Errorf("%s.index: %d is not the number of a GPU", field, g.Index)
		case seen[g.Index]:
			return fmt.Errorf("%s.index: %d stands there twice", field, g.Index)
		case g.MemoryBytes < 0 || g.MemoryBytes > maxMemory:
			return fmt.Errorf("%s.memory_bytes: %d is not the size of a GPU's memory in bytes", field, g.MemoryBytes)
		case g.PCIID != "" && !pciID().MatchString(g.PCIID):
			return fmt.Errorf("%s.pci_id: %q is not vendor:device such as 10de:1db5", field, text.Cut(g.PCIID, 60))
		case len(g.Name) > maxName:
			return fmt.Errorf("%s.name: %d bytes are no GPU's name", field, len(g.Name))
		case g.GFX != "" && !gfxTarget().MatchString(g.GFX):
			return fmt.Errorf("%s.gfx: %q is not a target such as gfx1100", field, text.Cut(g.GFX, 60))
		}
		seen[g.Index] = true
	}
	return nil
}

func (m *Machine) checkDriver() error {
	d := m.Driver
	if d == nil {
		return nil
	}
	if d.Version.IsZero() && d.LoadedVersion.IsZero() {
		return fmt.Errorf("driver: no version; write `\"driver\": null` where there is no driver")
	}
	for _, v := range []version.Dotted{d.Version, d.LoadedVersion} {
		// On Jetson people write JetPack's L4T release there (35.4.1); it is not
		// compared with any floor.
		if !v.IsZero() && !PlausibleDriver(v) && m.Platform.Environment != Jetson {
			return fmt.Errorf("driver: %s is not the version of an NVIDIA driver such as 580.95.05", v)
		}
	}
	return noneOr("driver.kernel_module", d.KernelModule, "open", "proprietary")
}

// ParseDriver reads the version of an NVIDIA driver, such as 580.95.05. Its error
// names the text.
func ParseDriver(s string) (version.Dotted, error) {
	v, err := version.ParseDotted(s)
	if err != nil || !PlausibleDriver(v) {
		return version.Dotted{}, fmt.Errorf("%q is not the version of an NVIDIA driver such as 580.95.05", text.Cut(s, 60))
	}
	return v, nil
}

// ParseLibc reads "glibc-2.28" or "musl-1.2"; musl's version may be missing. Its
// error names the text.
func ParseLibc(s string) (Libc, error) {
	kind, number, _ := strings.Cut(strings.ToLower(strings.TrimSpace(s)), "-")
	if kind == "musl" && number == "" {
		return Libc{Kind: kind}, nil
	}
	v, err := version.ParseDotted(number)
	if err != nil || oneOf("", kind, "glibc", "musl") != nil {
		return Libc{}, fmt.Errorf("%q is not a C library such as glibc-2.28 or musl-1.2", text.Cut(s, 60))
	}
	return Libc{Kind: kind, Version: v}, nil
}

// PlausibleDriver reports whether v can be the version of an NVIDIA driver: up
// to three groups, the first of which (the branch) has two or three digits; 71
// is the oldest branch on record.
func PlausibleDriver(v version.Dotted) bool {
	return v.Major() >= 71 && v.Major() <= 1999 && strings.Count(v.String(), ".") <= 2
}

func (m *Machine) checkSoftware() error {
	for i, t := range m.Toolkits {
		if t.Version.Major() < 1 || t.Version.Major() > 99 {
			return fmt.Errorf("cuda_toolkits[%d].version: %q is not a CUDA version such as 12.6", i, t.Version)
		}
	}
	for i, p := range m.Pythons {
		if !pythonish().MatchString(p.Version) {
			return fmt.Errorf("pythons[%d].version: %q is not a Python version such as 3.12.4", i, text.Cut(p.Version, 60))
		}
	}
	for i, p := range m.Installed {
		if p.Name == "" || len(p.Name) > maxName || len(p.Version) > maxName {
			return fmt.Errorf("installed[%d]: no package's name and version", i)
		}
	}
	return nil
}

// noneOr is oneOf for what may be missing.
func noneOr(field, got string, allowed ...string) error {
	if got == "" {
		return nil
	}
	return oneOf(field, got, allowed...)
}

func oneOf(field, got string, allowed ...string) error {
	if slices.Contains(allowed, got) {
		return nil
	}
	if got == "" {
		return fmt.Errorf("%s is missing: one of %s", field, strings.Join(allowed, ", "))
	}
	return fmt.Errorf("%s: %q is none of %s", field, text.Cut(got, 60), strings.Join(allowed, ", "))
}
