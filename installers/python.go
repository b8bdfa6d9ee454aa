package installers

import (
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/version"
	"envfix/matrix"
)

// fromDistribution is the source of a Python that a plan installs first.
const fromDistribution = "distribution"

// WithDistributionPython returns the machine with the Python that its distribution
// installs, where it has neither a Python nor uv and the data knows which that is:
// so the first plan is the whole plan. Where envfix brings uv, uv brings a Python, unless
// the distribution's is unpacked beside.
func WithDistributionPython(m *matrix.Matrix, h machine.Machine, t plan.Target) machine.Machine {
	if _, uv := tool(h, "uv"); uv || len(h.Pythons) > 0 || h.Platform.OS != "linux" || t.Bring != "" && !t.Unpack {
		return h
	}
	d, known := m.Distribution(h.Platform.Distro, h.Platform.DistroVersion)
	if _, here := tool(h, d.Manager); !known || !here || !builtFor(m, d.Python) {
		return h
	}
	if t.Unpack {
		d.Program = "{tools}/python/usr/bin/python3"
	}
	h.Pythons = []machine.Python{{Version: d.Python, Path: d.Program, Source: fromDistribution}}
	return h
}

// builtFor reports whether the newest torch has builds for a Python.
func builtFor(m *matrix.Matrix, python string) bool {
	v, err := version.ParsePython(python)
	return err == nil && len(m.Releases) > 0 && slices.ContainsFunc(m.Releases[0].Builds, func(b *matrix.Build) bool {
		return v.Compare(b.PythonMin) >= 0 && v.Compare(b.PythonMax) <= 0
	})
}

// systemPython plans a Python from the distribution, where nobody knows which that
// will be; there is no other start on a machine without uv. The rest is planned
// when it is there.
func (b *builder) systemPython() (string, bool) {
	why := "there is neither a Python nor uv"
	for _, pm := range []struct {
		name     string
		packages []string
	}{
		{"apt-get", []string{"python3", "python3-venv"}},
		{"dnf", []string{"python3", "python3-pip"}},
		{"zypper", []string{"python3", "python3-pip"}},
	} {
		if _, ok := tool(b.h, pm.name); ok {
			b.fromArchive(pm.name, why, pm.packages...)
			b.partial = true
			return "", false
		}
	}
	b.add(byHand("python", "install uv or a Python", why, "install uv (a single binary, docs.astral.sh/uv) or a Python 3.10 or newer, then run `envfix apply`"))
	return "", false
}

// bringVenv adds what makes p able to make an environment with pip: itself, where
// the distribution is to bring it, or the package in which Debian keeps that part.
func (b *builder) bringVenv(p machine.Python) {
	if p.Source == fromDistribution {
		d, _ := b.m.Distribution(b.h.Platform.Distro, b.h.Platform.DistroVersion)
		b.fromArchive(d.Manager, "there is neither a Python nor uv", d.Packages...)
		return
	}
	if _, apt := tool(b.h, "apt-get"); p.NoEnsurepip && apt && p.Source == "system" {
		b.fromArchive("apt-get", p.Path+" makes no environment without it", "python"+version.Minor(p.Version)+"-venv")
	}
}

// fromArchive installs the distribution's own packages.
func (b *builder) fromArchive(manager, why string, packages ...string) {
	t, _ := tool(b.h, manager)
	argv := []string{t.Path, "install", "-y"}
	switch manager {
	case "apt-get":
		b.add(command("lists", "bring the lists of packages up to date", "a fresh image has none", []string{t.Path, "update"}))
		argv = append(argv, "--no-install-recommends")
	case "zypper":
		argv = []string{t.Path, "--non-interactive", "install"}
	}
	b.add(command("python", "install the distribution's "+strings.Join(packages, ", "), why, append(argv, packages...)))
}
