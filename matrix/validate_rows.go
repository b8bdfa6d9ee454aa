package matrix

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/version"
)

// rows checks the tables beside torch's builds and the drivers.
func (c *checker) rows() {
	twice(c, c.m.Libraries, "library", func(l Library) (string, string) {
		return fmt.Sprintf("%s %s cu%d %s", l.Package, l.Version, l.Major, l.Arch), l.Source
	})
	twice(c, c.m.Ptxas, "triton", func(p Ptxas) (string, string) { return p.Triton.String() + " " + p.Arch, p.Source })
	twice(c, c.m.Components, "toolkit", func(k Components) (string, string) { return k.CUDA.String(), k.Source })
	twice(c, c.m.Extensions, "wheel", func(e Extension) (string, string) {
		return fmt.Sprintf("%s %s %s %s %v %s %v", e.Package, e.Version, e.OS, e.Arch, e.Sdist, e.CUDA, e.TorchLabels), e.Source
	})
	twice(c, c.m.Conda, "build", func(b CondaBuild) (string, string) {
		return fmt.Sprintf("%s %s %s %s %s %s", b.Channel, b.Torch, b.OS, b.Arch, b.CUDA, b.Note), b.Source
	})
	twice(c, c.m.ROCm, "target", func(t ROCmTarget) (string, string) {
		return fmt.Sprintf("%s %s %s", t.Label, t.Torch, t.GFX), t.Source
	})
	for _, l := range c.m.Libraries {
		c.library(l)
	}
	for _, e := range c.m.Extensions {
		c.extension(e)
	}
	for _, d := range c.m.Defects {
		c.defect(d)
	}
	for _, d := range c.m.Distributions {
		c.distribution(d)
	}
	for _, b := range c.m.Conda {
		c.codesKnown(b.Source, b.Native)
	}
	for _, t := range c.m.ROCm {
		if !c.labelKnown(t.Label) {
			c.fault(t.Source, "no release has a build %s", text.Cut(t.Label, 60))
		}
	}
	for _, z := range c.m.Sizes {
		r, ok := c.m.Release(z.Torch.String())
		if ok {
			_, ok = r.Build(z.Build, z.OS, z.Arch)
		}
		if !ok || z.DownloadMB == 0 {
			c.fault(z.Source, "torch %s %s on %s-%s is no build, or its size is missing", z.Torch, text.Cut(z.Build, 60), z.OS, z.Arch)
		}
	}
	for _, v := range c.m.VendorIndexes {
		if !urlForm().MatchString(v.URL) {
			c.fault(v.Source, "url: %q is not an https URL", text.Cut(v.URL, 60))
		}
	}
	for _, e := range c.m.Commands {
		if !strings.Contains(e.Args, "{torch}") || e.Torch.IsZero() {
			c.fault(e.Source, "a command names {torch} and the releases it is of")
		}
	}
}

func (c *checker) distribution(d Distribution) {
	if len(d.IDs) == 0 || len(d.Versions) == 0 || len(d.Packages) == 0 || !strings.HasPrefix(d.Program, "/usr/bin/") {
		c.fault(d.Source, "a distribution has ids, versions, packages and a program in /usr/bin")
	}
	if _, err := version.ParsePython(d.Python); err != nil {
		c.fault(d.Source, "python: %v", err)
	}
}

func (c *checker) library(l Library) {
	if l.Package == "" || l.Version.IsZero() || l.Major == 0 {
		c.fault(l.Source, "a library has a package, a version and a CUDA major")
	}
	c.codes(l.Source, "cubins", l.Native)
	c.codes(l.Source, "ptx", l.PTX)
}

func (c *checker) extension(e Extension) {
	if e.Package == "" || e.Version.IsZero() {
		c.fault(e.Source, "an extension has a package and versions")
	}
	if e.OS != "" && !slices.Contains([]string{"linux", "windows", "macos"}, e.OS) ||
		e.OS != "" && !slices.Contains([]string{"x86_64", "aarch64", "arm64"}, e.Arch) {
		c.fault(e.Source, "on: %q is not a platform such as linux-x86_64", text.Cut(e.OS+"-"+e.Arch, 60))
	}
	if !slices.Contains([]string{"", "import", "call", "log", "silent"}, e.Fails) {
		c.fault(e.Source, "fails: %q is none of import, call, log, silent", text.Cut(e.Fails, 60))
	}
	if _, err := version.ParseSpecifier(e.Python); err != nil {
		c.fault(e.Source, "python: %v", err)
	}
	c.codesKnown(e.Source, e.Native)
}

func (c *checker) codesKnown(place string, list []Code) {
	for _, x := range list {
		if _, ok := c.m.Arch(x.SM); !ok {
			c.fault(place, "cubins: %s is not among the arches", x.SM)
		}
	}
}

func (c *checker) defect(d Defect) {
	if d.Package == "" || d.Effect == "" || d.Remedy == "" {
		c.fault(d.Source, "a defect names a package, an effect and a remedy")
	}
	for _, l := range d.Labels {
		if !c.labelKnown(l) {
			c.fault(d.Source, "builds: no release has a build %s", text.Cut(l, 60))
		}
	}
	for _, sm := range append([]machine.SM{d.Below}, d.SMs...) {
		if _, ok := c.m.Arch(sm); !sm.IsZero() && !ok {
			c.fault(d.Source, "gpus: %s is not among the arches", sm)
		}
	}
	if d.Package == "torch" && !d.Versions.IsZero() && !slices.ContainsFunc(c.m.Releases, func(r *Release) bool { return d.Versions.Admits(r.Torch) }) {
		c.fault(d.Source, "versions: no release is in %s", d.Versions)
	}
}

func (c *checker) labelKnown(label string) bool {
	for _, r := range c.m.Releases {
		for _, b := range r.Builds {
			if b.Label == label {
				return true
			}
		}
	}
	return false
}

// checkDevices reads the device table row by row, and finds the capabilities of which
// the matrix knows no architecture.
func checkDevices(fsys fs.FS, m *Matrix) []Fault {
	t, err := LoadDevices(fsys)
	if err != nil {
		return []Fault{{File: "data/devices.tsv", Text: err.Error()}}
	}
	var faults []Fault
	line := 0
	seen := map[string]bool{}
	for row := range strings.Lines(t.text) {
		line++
		if d, err := chipRow(strings.Split(strings.TrimSuffix(row, "\n"), "\t")); err == nil && strings.HasPrefix(row, "chip\t") && !d.SM.IsZero() {
			if _, ok := m.Arch(d.SM); !ok {
				faults = append(faults, Fault{"data/devices.tsv", line, fmt.Sprintf("%s has the capability %s, which has no row in arches.yaml", d.Chip, d.SM)})
			}
		}
		if text := t.rowFault(strings.TrimSuffix(row, "\n"), seen); text != "" {
			faults = append(faults, Fault{"data/devices.tsv", line, text})
		}
	}
	line = 0
	for row := range strings.Lines(t.names) {
		line++
		f := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if f[0] == "alias" && len(f) == 3 && len(t.LookupName(f[2])) == 0 {
			faults = append(faults, Fault{"data/names.tsv", line, fmt.Sprintf("alias: no device is named %q", text.Cut(f[2], 60))})
		} else if !strings.HasPrefix(f[0], "#") && !(f[0] == "alias" && len(f) == 3) && !(f[0] == "intel" && len(f) == 3 && t.xpu[f[1]].Chip != "") && !(f[0] == "amd" && len(f) == 4) {
			faults = append(faults, Fault{"data/names.tsv", line, fmt.Sprintf("%q is not a row of this table", text.Cut(row, 60))})
		}
	}
	return faults
}

// rowFault says what is wrong with a row of the device table, or "".
func (t *DeviceTable) rowFault(row string, seen map[string]bool) string {
	f := strings.Split(row, "\t")
	ok := true
	switch {
	case strings.HasPrefix(row, "#"), f[0] == "chip", f[0] == "xpu": // read by LoadDevices
		return ""
	case f[0] == "name":
		ok = len(f) == 6
		if ok {
			_, ok = t.chips[f[1]]
		}
	case f[0] == "intel":
		_, ok = t.intelRow(f)
	case f[0] == "amd":
		ok = len(f) == 3
	default:
		_, ok = t.idRow(row)
		ok = ok && len(f[0]) == 9 && strings.HasPrefix(f[0], "10de:")
	}
	if !ok {
		return fmt.Sprintf("%q is not a row of this table", text.Cut(row, 60))
	}
	if key := strings.Join(f[:min(3, len(f))], "\t"); f[0] != "name" && seen[key] {
		return fmt.Sprintf("%q is there twice", text.Cut(key, 60))
	} else {
		seen[key] = true
	}
	return ""
}
