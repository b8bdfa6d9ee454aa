package evidence

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/xslices"
)

// Made reports whether conda installed the torch of the environment that is looked at,
// and nobody put another over it.
func (e Conda) Made() bool {
	if e.Files == nil || len(e.Files.Conda) == 0 || strings.HasPrefix(e.Files.Conda[0], "cpuonly ") && len(e.Files.Conda) == 1 {
		return false
	}
	return !slices.ContainsFunc(e.Files.Dists, func(d machine.DistFiles) bool {
		return d.Name == "torch" && d.Installer != "conda" && d.Installer != ""
	})
}

// Tool is conda, or the one of its kind that is here.
func (e Conda) Tool() string {
	for _, name := range managers.Conda() {
		if slices.ContainsFunc(e.Machine.Tools, func(t machine.Tool) bool { return t.Name == name }) {
			return name
		}
	}
	return "conda"
}

// Here is the tool's command on the environment that is looked at.
func (e Conda) Here(command string) string {
	return fmt.Sprintf("%s %s --prefix %q", e.Tool(), command, e.Files.Dir)
}

// Again is how conda installs a package of its own anew.
func (e Conda) Again(d machine.DistFiles) []string {
	name := d.Name
	if name == "torch" {
		name = "pytorch"
	}
	return []string{"`" + e.Here("install --force-reinstall") + " " + name + "=" + Public(d.Version) + "`"}
}

// Package is what conda installed under a name, by the text; nil: nothing.
func (e Conda) Package(name string) *read.Package {
	return xslices.At(e.Packages, func(p read.Package) bool { return p.Name == name && p.Tool == "conda" && p.Channel != "pypi" })
}

// PipPackage is what pip installed under a name into an environment of conda's; nil: nothing.
func (e Conda) PipPackage(name string) *read.Package {
	return xslices.At(e.Packages, func(p read.Package) bool {
		return p.Name == name && (p.Tool == "pip" || p.Channel == "pypi") && !strings.HasPrefix(p.At.Text, "Successfully")
	})
}
