package machine

import (
	"bytes"
	"slices"
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// Class returns the facts that decide what a machine can run, and nothing else:
// no ids, paths, packages, tools or variables. Machines of one class get the same
// decision, choice and driver, and their ClassLine has the same bytes.
//
// Of GPUs that are equal two are kept, since rules ask for "several", never for a
// number (NCCL counts from two on), and are numbered anew. Of Pythons only the
// minor version counts, the active one first and then the newest.
func (m Machine) Class() Machine {
	p := m.Platform
	p.Kernel, p.SecureBoot, p.BootID, p.Product = "", nil, "", ""
	c := Machine{Format: Format, Platform: p, Privilege: m.Privilege, Pythons: classPythons(m.Pythons)}
	if d := m.Driver; d != nil {
		c.Driver = &Driver{Version: d.Version, KernelModule: d.KernelModule, LoadedVersion: d.LoadedVersion, NotLoaded: d.NotLoaded}
	}
	for _, g := range m.GPUs {
		g = classGPU(g)
		same := 0
		for _, k := range c.GPUs {
			k.Index = 0
			if k == g {
				same++
			}
		}
		if same < 2 {
			g.Index = len(c.GPUs)
			c.GPUs = append(c.GPUs, g)
		}
	}
	c.fill()
	return c
}

// classGPU drops what tells two GPUs of one model apart. That a GPU was named by a
// flag stays: such a machine is the target also where it is an image build.
func classGPU(g GPU) GPU {
	c := GPU{
		Vendor: g.Vendor, Name: g.Name, SM: g.SM, PCIID: g.PCIID, Subsystem: g.Subsystem, Visible: g.Visible,
		Integrated: g.Integrated, MIG: g.MIG, MIGMode: g.MIGMode, GFX: g.GFX, KernelDriver: g.KernelDriver, Fault: g.Fault,
	}
	if g.Evidence == FromFlag {
		c.Evidence = FromFlag
	}
	return c
}

// DriverVersion is that of its driver; "" none, or nobody knows.
func (m Machine) DriverVersion() string {
	if m.Driver == nil {
		return ""
	}
	return m.Driver.Version.String()
}

// NVIDIA are the compute capabilities of its NVIDIA GPUs.
func (m Machine) NVIDIA() []SM {
	return text.Each(xslices.Filter(m.GPUs, func(g GPU) bool { return g.Vendor == NVIDIA }), func(g GPU) SM { return g.SM })
}

// WindowsDriver reports whether its driver is one for Windows, as WSL's is.
func (m Machine) WindowsDriver() bool {
	return m.Platform.OS == "windows" || m.Platform.Environment == WSL2
}

// Has returns the package of that name that is installed; nil: none is.
func (m Machine) Has(name string) *Package {
	return xslices.At(m.Installed, func(p Package) bool { return p.Name == name })
}

// Minor is the Python as a request names it: 3.12, or 3.14t of a free-threaded one.
func (p Python) Minor() string {
	minor := version.Minor(p.Version)
	minor += say.If(p.FreeThreaded && !strings.HasSuffix(minor, "t"), "t")
	return minor
}

func classPythons(all []Python) (out []Python) {
	for _, p := range all {
		if !strings.Contains(p.Version, ".") {
			continue
		}
		c := Python{Version: version.Minor(p.Version), Active: p.Active, FreeThreaded: p.FreeThreaded, Arch: p.Arch}
		out = xslices.Add(out, c)
	}
	slices.SortStableFunc(out, func(a, b Python) int {
		switch {
		case a.Active != b.Active && a.Active:
			return -1
		case a.Active != b.Active:
			return 1
		case len(a.Version) != len(b.Version): // "3.9" before "3.10": of one major the longer is the newer
			return len(b.Version) - len(a.Version)
		}
		return strings.Compare(b.Version, a.Version)
	})
	return out
}

// ClassLine is the JSON of the class in one line, without a newline at its end. It
// is a facts file as well. For a machine with up to eight different GPUs it is
// shorter than 2,000 bytes.
func (m Machine) ClassLine() []byte {
	c := m.Class()
	pythons := filled(text.Each(c.Pythons, func(p Python) classPython { return classPython{p.Version, p.Active, p.FreeThreaded, p.Arch} }))
	return bytes.TrimRight(encoded(classForm{Format, c.Platform, c.Privilege, c.GPUs, c.Driver, pythons}, ""), "\n")
}

// classForm is a Machine without the lists that a class leaves empty.
type classForm struct {
	Format    int           `json:"format"`
	Platform  Platform      `json:"platform"`
	Privilege string        `json:"privilege,omitempty"`
	GPUs      []GPU         `json:"gpus"`
	Driver    *Driver       `json:"driver"`
	Pythons   []classPython `json:"pythons"`
}

type classPython struct {
	Version      string `json:"version"`
	Active       bool   `json:"active,omitempty"`
	FreeThreaded bool   `json:"free_threaded,omitempty"`
	Arch         string `json:"arch,omitempty"`
}
