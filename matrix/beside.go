package matrix

import (
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// What is known of packages beside torch: what they need without declaring it,
// which files there are of them, and where else they are published.

// A Need is something that a package needs of another one and that its metadata
// does not say: a version of it that it was built against, or that it asks for
// when it is imported. One that its metadata does say (FailsInstall) is kept where the
// files of what is needed decide: not every Python and system has one.
type Need struct {
	Package  string            `each:"package"` // torch, torchcodec, transformers …
	Versions version.Specifier // of the package; zero: any
	Of       string            // torch, numpy …
	Range    version.Specifier // of what it needs
	OS, Arch string            // "" any
	Fails    string            `one:"- import call log silent install"` // where the lack shows: import, call, log, silent, install; "" not known
	Effect   string            // what happens without it, as a sentence's end
	Proof    Proof
	Source   string
}

// FailsInstall is the Fails of a need that an installer cannot meet everywhere.
const FailsInstall = "install"

// OfSystem is the Of of a need that the system meets, and no package; Effect says which.
const OfSystem = "system"

// Removed is a module that a package of torch's family has no more.
type Removed struct {
	Module string // torchvision.transforms.functional_tensor
	Since  version.Dotted
	Proof  Proof
	Source string
}

// Brings are packages whose metadata requires another one: a framework, which computes on
// the CPU where nobody asks for it with its CUDA, or one that needs a torch without
// declaring it.
type Brings struct {
	Packages []string
	Package  string   `data:"brings"` // what they bring
	Or       []string // frameworks that do in its place: they declare none, and compute with one of them
	Proof    Proof
	Source   string
}

// BroughtBy are the packages that another one brings.
func (m *Matrix) BroughtBy(name string) []string {
	by := xslices.Filter(m.Brings, func(b Brings) bool { return slices.Contains(b.Packages, name) })
	return text.Each(by, func(b Brings) string { return b.Package })
}

// InsteadOf are the frameworks that do in the place of one that a package is given.
func (m *Matrix) InsteadOf(name, brought string) []string {
	b, _ := xslices.Find(m.Brings, func(b Brings) bool { return b.Package == brought && slices.Contains(b.Packages, name) })
	return b.Or
}

// A Backend is the floor of a way to compute that stands above the wheel's own
// tag: MPS needs a newer macOS than the wheel that carries it.
type Backend struct {
	Label    string            `data:"backend"` // mps
	Torch    version.Specifier // the releases that the floor is of
	OS, Arch string
	MinOS    version.Dotted // oldest release of the system
	GPUs     string         // amd: only these; "" any
	Warning  string         // what is known to go wrong; "" nothing
	Proof    Proof
	Source   string
}

// Backend returns the floor of a backend for a release of torch; false: none is
// known.
func (m *Matrix) Backend(label string, torch version.Python, os, arch string) (Backend, bool) {
	return xslices.Find(m.Backends, func(b Backend) bool { return b.Label == label && b.OS == os && b.Arch == arch && b.Torch.Admits(torch) })
}

// Files are the wheels that the default index has of some versions of a package
// on one platform.
type Files struct {
	Package  string
	Versions string `data:",versions"` // as the index writes them, parted by spaces: there are thousands, and a plan looks at few
	OS, Arch string `each:"on"`        // "" any
	Tags     string // parted by spaces: cp312, cp313t, cp39-abi3 (any CPython from 3.9 on), py3
	Glibc    version.Dotted
	Musl     version.Dotted // musl's instead; zero: not for musl
	MacOS    version.Dotted
	Requires version.Specifier `data:"python"` // Requires-Python
	Sdist    bool              // a source distribution, for any platform
	Proof    Proof
	Source   string
}

// A Fit says whether a version of a package has a file for an interpreter on a
// platform.
type Fit int

// The values of Fit: nobody looked at this version, no file, a source distribution
// alone, a wheel.
const (
	FitUnknown Fit = iota
	FitNone
	FitSource
	FitWheel
)

// FilesOf returns the rows of one version of a package; none: nobody looked.
func (m *Matrix) FilesOf(pkg string, v version.Python) []Files {
	text, same := spellings(v)
	return xslices.Filter(m.filesOf(pkg), func(f Files) bool { return hasWord(f.Versions, text) || hasWord(f.Versions, same) })
}

// VersionsOf are the versions of a package of which the files are known; none: nobody
// looked.
func (m *Matrix) VersionsOf(pkg string) []version.Python {
	var out []version.Python
	seen := map[string]bool{}
	for _, f := range m.filesOf(pkg) {
		for text := range strings.FieldsSeq(f.Versions) {
			if v, err := version.ParsePython(text); err == nil && !seen[text] {
				seen[text] = true
				out = append(out, v)
			}
		}
	}
	return out
}

// filesOf are the rows of a package, among others where no index was made.
func (m *Matrix) filesOf(pkg string) []Files {
	if m.index.files != nil {
		return m.index.files[pkg]
	}
	return xslices.Filter(m.Files, func(f Files) bool { return f.Package == pkg })
}

// Fits reports whether the default index has a file of a version of a package for
// a Python such as 3.12 or 3.13t on a platform. A zero libc or system version fits
// nothing that asks for one less than it fits everything: it is unknown, and passes.
func (m *Matrix) Fits(pkg string, v version.Python, python string, p machine.Platform) Fit {
	best := FitUnknown
	number := version.Public(strings.TrimSuffix(python, "t")) // zero: not known, and Requires-Python excludes nothing
	for _, f := range m.FilesOf(pkg, v) {
		switch best = max(best, FitNone); {
		case !number.IsZero() && !f.Requires.IsZero() && !f.Requires.Admits(number):
		case f.Sdist:
			best = FitSource
		case f.onPlatform(p) && f.loadsIn(python):
			return FitWheel
		}
	}
	return best
}

// A Framework is a release of another framework than torch: which CUDA it
// computes with, and how pip is asked for that.
type Framework struct {
	Package   string // tensorflow, jax, onnxruntime-gpu, cupy-cuda13x
	Versions  version.Specifier
	Ask       string // "tensorflow[and-cuda]": what is installed for a GPU
	OS, Arch  string `each:"on"` // "" any
	CUDA      string // "12.5" or "12": its major must be that of everything beside it
	CuDNN     version.Specifier
	Driver    version.Dotted // oldest driver on Linux
	DriverWin version.Dotted `data:"driver_windows"` // on Windows, WSL
	MinSM     machine.SM
	Python    version.Specifier
	Files     string         // the package whose files decide, where they are another's: jaxlib of jax
	Plain     string         // what the package alone brings: "cpu", "none" no code for a CPU, or "" the same
	API       string         // what it computes with on GPUs where that is no CUDA: OpenCL, DirectML, Metal
	Warning   string         // what whoever installs it has to know; "" nothing
	Glibc     version.Dotted `data:"glibc_aarch64" of:"aarch64"` // what the wheels of its CUDA libraries ask for
	Apart     bool           // its CUDA may be another one than that of what stands beside it
	Exact     bool           // its extra pins each CUDA library to one version, of which no torch pins the same
	Note      string
	Proof     Proof
	Source    string
}

// FrameworksOf returns the rows of a framework for a platform, in their order: the
// newest first, and of one release the newer CUDA first.
func (m *Matrix) FrameworksOf(pkg, os, arch string) []Framework {
	return xslices.Filter(m.Frameworks, func(f Framework) bool { return f.Package == pkg && IsFor(f.OS, f.Arch, os, arch) })
}

// IsFor reports whether a row is for a system; "" stands for any.
func IsFor(rowOS, rowArch, os, arch string) bool {
	return (rowOS == "" || rowOS == os) && (rowArch == "" || rowArch == arch)
}

// An Elsewhere is where wheels of a package are published that the default index
// does not have.
type Elsewhere struct {
	Package  string `each:"package"`
	Versions version.Specifier
	Kind     string   `one:"index files find-links build"` // files: a release's, by name
	URL      string   // of an index or page, or of a file with {version} {torch} {cuda} {abi} {python} in it
	Pin      string   // the release to ask such a page for, where it has all: "0.21.7+torch{digits}{cuda}"
	OS, Arch string   `each:"on"`
	Torch    []string `data:"torch,quoted"`   // minors that wheels are built for: "2.8"; empty: any
	CUDA     []string `data:"cuda,quoted"`    // as the URL writes it: cu126, 12; empty: any
	Pythons  []string `data:"pythons,quoted"` // "3.10"; empty: any
	ABI      string   // TRUE, FALSE or both, where the name says which C++ ABI; "" it does not
	SHA256   string   // of the one file that the URL names; "" nobody published one
	Build    string   // how to build it where there is none: variables and command
	Archs    []string `data:"archs,quoted"` // capabilities that its build serves
	Cost     string   // minutes and memory of a build
	Alone    bool     // it needs no torch: the driver and the GPUs decide
	Note     string
	Proof    Proof // never wheel: nobody read them
	Source   string
}

// ElsewhereOf returns where a package is published beside the default index.
func (m *Matrix) ElsewhereOf(pkg, os, arch string) []Elsewhere {
	return xslices.Filter(m.Elsewhere, func(e Elsewhere) bool { return e.Package == pkg && IsFor(e.OS, e.Arch, os, arch) })
}

// A Known is a group of names of packages: real ones, or names that stand for a
// real one in people's heads.
type Known struct {
	Names  []string
	Meant  string // "": they are real; else the package that is meant
	Why    string // what such a name is instead: "a placeholder that fails on purpose"
	Proof  Proof
	Source string
}

// KnownName reports whether a normalised name is that of a real package of the
// list or of any table; meant is the row of a name that is none, which says what
// package people mean by it.
func (m *Matrix) KnownName(name string) (real bool, meant Known) {
	if k, ok := xslices.Find(m.Known, func(k Known) bool { return slices.Contains(k.Names, name) }); ok {
		return k.Meant == "", k
	}
	return m.Tells(name), Known{}
}

// Tells reports whether any table has a row of a package.
func (m *Matrix) Tells(name string) bool {
	return m.tellsItself(name) || slices.ContainsFunc(m.Needs, func(n Need) bool { return n.Of == name })
}

// tellsItself reports whether a table says more of a package than that another needs it.
func (m *Matrix) tellsItself(name string) bool {
	return m.TellsOf(name, version.Specifier{}) ||
		slices.ContainsFunc(m.Needs, func(n Need) bool { return n.Package == name }) ||
		slices.ContainsFunc(m.Brings, func(b Brings) bool { return slices.Contains(b.Packages, name) }) ||
		slices.ContainsFunc(m.Elsewhere, func(e Elsewhere) bool { return e.Package == name })
}

// TellsOf reports whether a table has a row of some release of a package that spec admits:
// of the package itself, or of one of its packages for a CUDA, as tensorrt-cu12 is of tensorrt.
func (m *Matrix) TellsOf(name string, spec version.Specifier) bool {
	return slices.ContainsFunc(m.Extensions, func(e Extension) bool { return e.Package == name && (spec.IsZero() || spec.Admits(e.Version)) }) ||
		slices.ContainsFunc(m.Frameworks, func(f Framework) bool {
			return (f.Package == name || strings.HasPrefix(f.Package, name+"-cu")) && f.Versions.Overlaps(spec)
		})
}

// Unread reports whether no table has a row of what is asked of a package: of the package, of
// its files or, where its releases have rows, of one of those. Which files it has, and that
// another needs it, says nothing of what is in them.
func (m *Matrix) Unread(name string, spec version.Specifier) bool {
	files := m.VersionsOf(name)
	switch {
	case len(files) > 0 && !spec.IsZero() && !slices.ContainsFunc(files, spec.Admits):
		return true
	case m.TellsOf(name, version.Specifier{}):
		return !m.TellsOf(name, spec)
	}
	return !m.tellsItself(name) && (len(files) > 0 || !m.Tells(name))
}

// KnownNames are the real names of the list, for suggestions.
func (m *Matrix) KnownNames() []string {
	real := xslices.Filter(m.Known, func(k Known) bool { return k.Meant == "" })
	return slices.Concat(text.Each(real, func(k Known) []string { return k.Names })...)
}
