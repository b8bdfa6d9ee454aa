package matrix

import (
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/version"
)

// must reports the rows of a table that are not as they have to be.
func must[T any](c *checker, rows []T, text string, ok func(T) bool) {
	for _, r := range rows {
		c.wrong(!ok(r), sourceOf(reflect.ValueOf(r)), "%s", text)
	}
}

func sourceOf(row reflect.Value) string { return row.FieldByName("Source").String() }

// twice reports rows that nothing tells apart from another one.
func (c *checker) twice() {
	for table, list := range c.m.tables() {
		if _, keys := told(table); keys == nil {
			continue
		}
		seen := map[string]string{}
		for i, r := range tableRows(table, list) {
			place := sourceOf(list.Index(i))
			if at, ok := seen[r.key]; ok {
				c.fault(place, "%s is there twice; the other is at %s", text.Cut(r.key, 120), at)
			}
			seen[r.key] = place
		}
	}
}

// rows checks the tables beside torch's builds and the drivers.
func (c *checker) rows() {
	must(c, c.m.Libraries, "a library has a package, a version and a CUDA major", func(l Library) bool { return l.Package != "" && !l.Version.IsZero() && l.Major != 0 })
	must(c, c.m.Extensions, "an extension has a package and versions", func(e Extension) bool { return e.Package != "" && !e.Version.IsZero() })
	must(c, c.m.Defects, "a defect names a package, an effect and a remedy", func(d Defect) bool { return d.Package != "" && d.Effect != "" && d.Remedy != "" })
	must(c, c.m.Distributions, "a distribution has ids, versions, packages and a program in /usr/bin", func(d Distribution) bool {
		return len(d.IDs) > 0 && len(d.Versions) > 0 && len(d.Packages) > 0 && strings.HasPrefix(d.Program, "/usr/bin/")
	})
	must(c, c.m.Distributions, "python: it is no version", func(d Distribution) bool { _, err := version.ParsePython(d.Python); return err == nil })
	must(c, c.m.Conda, "a build of conda has a system and a processor", func(b CondaBuild) bool { return b.OS != "" && b.Arch != "" })
	must(c, c.m.ROCm, "no release has such a build", func(t ROCmTarget) bool { return c.labelKnown(t.Label) })
	must(c, c.m.VendorIndexes, "url: it is no https URL", func(v VendorIndex) bool { return urlForm().MatchString(v.URL) })
	must(c, c.m.VendorIndexes, "the wheels of a package have a command, and words for it (names)", func(v VendorIndex) bool {
		return (v.Package == "") == (v.Command == "") && v.Names != ""
	})
	must(c, c.m.Commands, "a command names {torch} and the releases it is of", func(e CommandEra) bool {
		return strings.Contains(e.Args, "{torch}") && !e.Torch.IsZero()
	})
	must(c, c.m.Sizes, "it is the size of no build, or missing", func(z Size) bool {
		_, ok := c.m.BuildOf(z.Torch.String(), z.Build, z.OS, z.Arch)
		return ok && z.DownloadMB > 0
	})
	for _, d := range c.m.Defects {
		c.defect(d)
	}
	c.allCodes()
}

// allCodes checks what the tables beside torch's builds say that there is code for.
func (c *checker) allCodes() {
	for _, l := range c.m.Libraries {
		c.codes(l.Source, "cubins", l.Native)
		c.codes(l.Source, "ptx", l.PTX)
	}
	for _, e := range c.m.Extensions {
		c.codes(e.Source, "cubins", e.Native)
	}
	for _, b := range c.m.Conda {
		c.codes(b.Source, "cubins", b.Native)
	}
}

func (c *checker) defect(d Defect) {
	for _, l := range d.Labels {
		c.wrong(!c.labelKnown(l), d.Source, "builds: no release has a build %s", text.Cut(l, 60))
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
	return slices.ContainsFunc(c.m.Releases, func(r *Release) bool {
		return slices.ContainsFunc(r.Builds, func(b *Build) bool { return b.Label == label })
	})
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
		if text := t.nameFault(strings.TrimSuffix(row, "\n")); text != "" {
			faults = append(faults, Fault{"data/names.tsv", line, text})
		}
	}
	return faults
}

// nameFault says what is wrong with a row of the table of names, or "".
func (t *DeviceTable) nameFault(row string) string {
	f := strings.Split(row, "\t")
	if _, ok := t.device(f, namedRows); !ok && (f[0] != "alias" || len(f) != 3) && !strings.HasPrefix(row, "#") {
		return fmt.Sprintf("%q is not a row of this table", text.Cut(row, 60))
	}
	if f[0] == "alias" && len(t.LookupName(f[2])) == 0 {
		return fmt.Sprintf("alias: no device is named %q", text.Cut(f[2], 60))
	}
	return ""
}

// rowFault says what is wrong with a row of the device table, or "".
func (t *DeviceTable) rowFault(row string, seen map[string]bool) string {
	f := strings.Split(row, "\t")
	if strings.HasPrefix(row, "#") || f[0] == "chip" || f[0] == "xpu" { // read by LoadDevices
		return ""
	}
	if _, ok := t.device(f, modelRows); !ok {
		return fmt.Sprintf("%q is not a row of this table", text.Cut(row, 60))
	}
	if key := strings.Join(f[:min(3, len(f))], "\t"); f[0] != "name" && seen[key] {
		return fmt.Sprintf("%q is there twice", text.Cut(key, 60))
	} else {
		seen[key] = true
	}
	return ""
}
