package matrix

import (
	"slices"
	"strings"

	"envfix/internal/text"
	"envfix/internal/version"
)

// readBeside reads the tables of packages beside torch.
func readBeside(r *rowReader, rows rowsFunc, m *Matrix) {
	rows("needs", func(o object) {
		n := Need{Versions: o.specifier("versions"), Of: o.text("of"), Range: o.specifier("range"), OS: o.text("os"), Arch: o.text("arch"),
			Fails: o.text("fails"), Effect: o.text("effect"), Proof: r.proof(o), Source: r.place(o)}
		for _, n.Package = range o.words("package") {
			m.Needs = append(m.Needs, n)
		}
	})
	rows("brings", func(o object) {
		m.Brings = append(m.Brings, Brings{Packages: o.words("packages"), Package: o.text("brings"), Or: o.words("or"), Proof: r.proof(o), Source: r.place(o)})
	})
	rows("backends", func(o object) {
		m.Backends = append(m.Backends, Backend{
			Label: o.text("backend"), Torch: o.specifier("torch"), OS: o.one("os", "linux", "windows", "macos"), Arch: o.one("arch", "x86_64", "aarch64", "arm64"),
			MinOS: o.dotted("min_os"), GPUs: o.text("gpus"), Warning: o.text("warning"), Proof: r.proof(o), Source: r.place(o)})
	})
	rows("files", func(o object) { readFiles(r, o, m) })
	rows("dists", func(o object) { readDists(r, o, m) })
	rows("frameworks", func(o object) {
		f := Framework{
			Package: o.text("package"), Versions: o.specifier("versions"), Ask: o.text("ask"), CUDA: o.text("cuda"), CuDNN: o.specifier("cudnn"),
			Driver: o.dotted("driver"), DriverWin: o.dotted("driver_windows"), MinSM: o.sm("min_sm"), Python: o.specifier("python"),
			Plain: o.text("plain"), Warning: o.text("warning"),
			Files: o.text("files"), Exact: o.yes("exact"), Note: o.text("notes"), Proof: r.proof(o), Source: r.place(o)}
		arm := o.dotted("glibc_aarch64")
		for f.OS, f.Arch = range platformsOf(o) {
			if f.Glibc = (version.Dotted{}); f.Arch == "aarch64" {
				f.Glibc = arm
			}
			m.Frameworks = append(m.Frameworks, f)
		}
	})
	rows("elsewhere", func(o object) {
		e := Elsewhere{
			Package: o.text("package"), Versions: o.specifier("versions"), Kind: o.one("kind", "index", "files", "find-links", "build"), URL: o.text("url"),
			Torch: o.versions("torch"), CUDA: o.versions("cuda"), Pythons: o.versions("pythons"), ABI: o.text("abi"), SHA256: o.text("sha256"), Build: o.text("build"),
			Archs: o.versions("archs"), Cost: o.text("cost"), Alone: o.yes("alone"), Note: o.text("notes"), Proof: r.proof(o), Source: r.place(o)}
		for e.OS, e.Arch = range platformsOf(o) {
			m.Elsewhere = append(m.Elsewhere, e)
		}
	})
	rows("known", func(o object) {
		m.Known = append(m.Known, Known{Names: o.words("names"), Meant: o.text("meant"), Why: o.text("why"), Proof: r.proof(o), Source: r.place(o)})
	})
}

// platformsOf yields the platforms of "on: linux-x86_64 windows-x86_64"; without
// it, one that stands for any.
func platformsOf(o object) func(func(os, arch string) bool) {
	list := o.words("on")
	if len(list) == 0 {
		list = []string{""}
	}
	return func(yield func(os, arch string) bool) {
		for _, p := range list {
			os, arch, _ := strings.Cut(p, "-")
			if !yield(os, arch) {
				return
			}
		}
	}
}

func readFiles(r *rowReader, o object, m *Matrix) {
	f := Files{Package: o.text("package"), Tags: o.text("tags"), Glibc: o.dotted("glibc"), Musl: o.dotted("musl"),
		MacOS: o.dotted("macos"), Requires: o.specifier("python"), Sdist: o.yes("sdist"), Proof: r.proof(o), Source: r.place(o)}
	var versions []string
	for _, v := range o.pythons("versions") {
		versions = append(versions, v.String())
	}
	f.Versions = strings.Join(versions, " ")
	f.OS, f.Arch, _ = strings.Cut(o.text("on"), "-")
	m.Files = append(m.Files, f)
}

// beside checks the rows of packages beside torch.
func (c *checker) beside() {
	for _, n := range c.m.Needs {
		if n.Package == "" || n.Of == "" || n.Range.IsZero() || n.Effect == "" {
			c.fault(n.Source, "a need names a package, what it needs (of, range) and what happens without it (effect)")
		}
		if !slices.Contains([]string{"", "import", "call", "log", "silent", FailsInstall}, n.Fails) {
			c.fault(n.Source, "fails: %q is none of import, call, log, silent, install", text.Cut(n.Fails, 60))
		}
	}
	for _, b := range c.m.Brings {
		if b.Package == "" || len(b.Packages) == 0 {
			c.fault(b.Source, "packages that bring another one are named, and it (packages, brings)")
		}
	}
	for _, b := range c.m.Backends {
		if b.Label == "" || b.MinOS.IsZero() {
			c.fault(b.Source, "a backend has a name and the oldest release of the system (min_os)")
		}
	}
	c.dists()
	seen := map[string]string{}
	for _, f := range c.m.Files {
		c.files(f, seen)
	}
	for _, f := range c.m.Frameworks {
		if f.Package == "" || f.Ask == "" || f.Versions.IsZero() {
			c.fault(f.Source, "a framework has a package, versions, and how it is asked for (ask)")
		}
		c.frameworkFloors(f)
	}
	for _, e := range c.m.Elsewhere {
		if e.Package == "" || e.Kind != "build" && !strings.HasPrefix(e.URL, "https://") {
			c.fault(e.Source, "a package that is published elsewhere has a name and an https URL")
		}
		if e.SHA256 != "" && (!sha256Form().MatchString(e.SHA256) || strings.Contains(e.URL, "{")) {
			c.fault(e.Source, "sha256: it is of one file, 64 lower-case hexadecimal digits, and the URL names that file")
		}
		if e.Proof == ByWheel {
			c.fault(e.Source, "proof: nobody read these wheels")
		}
	}
	for _, k := range c.m.Known {
		for _, name := range k.Names {
			if at, twice := seen["known "+name]; twice {
				c.fault(k.Source, "%s is there twice; the other is at %s", text.Cut(name, 60), at)
			}
			seen["known "+name] = k.Source
		}
	}
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
	if f.Package == "" || f.Versions == "" || !f.Sdist && f.Tags == "" {
		c.fault(f.Source, "files have a package, versions, and tags or sdist")
	}
	for _, v := range strings.Fields(f.Versions) {
		key := strings.Join([]string{f.Package, v, f.OS, f.Arch, f.Glibc.String(), f.Musl.String(), f.MacOS.String(), f.Requires.String()}, " ")
		if f.Sdist {
			key += " sdist"
		}
		if at, twice := seen[key]; twice {
			c.fault(f.Source, "%s is there twice; the other is at %s", key, at)
		}
		seen[key] = f.Source
	}
	for _, tag := range strings.Fields(f.Tags) {
		if !tagAdmits(tag, oldestOf(tag)) {
			c.fault(f.Source, "tags: %q is not such as cp312, cp313t, cp39-abi3, py3", text.Cut(tag, 60))
		}
	}
}

// oldestOf is the oldest Python that a tag speaks of.
func oldestOf(tag string) string {
	interpreter, _, _ := strings.Cut(tag, "-")
	digits := strings.TrimLeft(interpreter, "cpy")
	free := strings.HasSuffix(digits, "t")
	digits = strings.TrimSuffix(digits, "t")
	if len(digits) == 1 {
		return digits + ".0"
	}
	if len(digits) < 2 {
		return ""
	}
	out := digits[:1] + "." + digits[1:]
	if _, err := version.ParsePython(out); err != nil {
		return ""
	}
	if free {
		out += "t"
	}
	return out
}
