package matrix

import (
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"
)

// beside checks the rows of packages beside torch.
func (c *checker) beside() {
	must(c, c.m.Needs, "a need names a package, what it needs (of, range) and what happens without it (effect)", func(n Need) bool {
		return n.Package != "" && n.Of != "" && !n.Range.IsZero() && n.Effect != ""
	})
	must(c, c.m.Brings, "packages that bring another one are named, and it (packages, brings)", func(b Brings) bool {
		return b.Package != "" && len(b.Packages) > 0
	})
	must(c, c.m.Removed, "a removed module has a name and the release that lacks it (module, since)", func(m Removed) bool {
		return strings.Contains(m.Module, ".") && !m.Since.IsZero()
	})
	must(c, c.m.Backends, "a backend has a name, a system and its oldest release (min_os)", func(b Backend) bool {
		return b.Label != "" && b.OS != "" && b.Arch != "" && !b.MinOS.IsZero()
	})
	must(c, c.m.Frameworks, "a framework has a package, versions, and how it is asked for (ask)", func(f Framework) bool {
		return f.Package != "" && f.Ask != "" && !f.Versions.IsZero()
	})
	c.elsewhere()
	for _, f := range c.m.Frameworks {
		c.frameworkFloors(f)
	}
	seen := map[string]string{}
	for _, f := range c.m.Files {
		c.files(f, seen)
	}
	c.known(seen)
}

// known checks that a name is there once.
func (c *checker) known(seen map[string]string) {
	for _, k := range c.m.Known {
		for _, name := range k.Names {
			at, twice := seen["known "+name]
			c.wrong(twice, k.Source, "%s is there twice; the other is at %s", text.Cut(name, 60), at)
			seen["known "+name] = k.Source
		}
	}
}

// elsewhere checks where wheels are published beside the default index.
func (c *checker) elsewhere() {
	must(c, c.m.Elsewhere, "a package that is published elsewhere has a name and an https URL", func(e Elsewhere) bool {
		return e.Package != "" && (e.Kind == "build" || strings.HasPrefix(e.URL, "https://"))
	})
	must(c, c.m.Elsewhere, "sha256: it is of one file, 64 lower-case hexadecimal digits, and the URL names that file", func(e Elsewhere) bool {
		return e.SHA256 == "" || sha256Form().MatchString(e.SHA256) && !strings.Contains(e.URL, "{")
	})
	must(c, c.m.Elsewhere, "proof: nobody read these wheels", func(e Elsewhere) bool { return e.Proof != ByWheel })
}

// frameworkFloors: a row with a CUDA names the oldest driver of each system it is for, or
// any driver would do there. Linux' wheels run in WSL 2 on x86_64, with Windows' driver.
func (c *checker) frameworkFloors(f Framework) {
	if f.CUDA == "" {
		return
	}
	if f.OS != "windows" && f.Driver.IsZero() {
		c.fault(f.Source, "%s%s computes with CUDA %s and names no driver for Linux (driver)", f.Package, f.Versions, f.CUDA)
	}
	if (f.OS != "linux" || f.Arch != "aarch64") && f.DriverWin.IsZero() {
		c.fault(f.Source, "%s%s computes with CUDA %s and names no driver for Windows and WSL 2 (driver_windows)", f.Package, f.Versions, f.CUDA)
	}
}

func (c *checker) files(f Files, seen map[string]string) {
	c.wrong(f.Package == "" || f.Versions == "" || !f.Sdist && f.Tags == "", f.Source, "files have a package, versions, and tags or sdist")
	for _, v := range strings.Fields(f.Versions) {
		key := strings.Join([]string{f.Package, v, f.OS, f.Arch, f.Glibc.String(), f.Musl.String(), f.MacOS.String(), f.Requires.String()}, " ")
		key += say.If(f.Sdist, " sdist")
		if at, twice := seen[key]; twice {
			c.fault(f.Source, "%s is there twice; the other is at %s", key, at)
		}
		seen[key] = f.Source
	}
	for _, tag := range strings.Fields(f.Tags) {
		c.wrong(!tagForm().MatchString(tag), f.Source, "tags: %q is not such as cp312, cp313t, cp39-abi3, py3", text.Cut(tag, 60))
	}
}
