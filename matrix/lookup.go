package matrix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// index holds the maps behind the lookups. Load makes it; a Matrix put together
// by hand is searched without it.
type index struct {
	libraries map[libraryKey]*Library
	files     map[string][]Files // by package
}

type libraryKey struct {
	pkg, version string
	major        int
	arch         string
}

func newIndex(m *Matrix) index {
	x := index{libraries: make(map[libraryKey]*Library, len(m.Libraries)), files: map[string][]Files{}}
	for i := range m.Libraries {
		l := &m.Libraries[i]
		x.libraries[libraryKey{l.Package, l.Version.String(), l.Major, l.Arch}] = l
	}
	for i := range m.Files { // those of a package stand together
		name := m.Files[i].Package
		from := i - len(x.files[name])
		if from < 0 || m.Files[from].Package != name {
			return index{libraries: x.libraries} // they do not: searched without the index
		}
		x.files[name] = m.Files[from : i+1]
	}
	return x
}

// Library returns what the bytes of one library say: its package without
// "nvidia-" and "-cu12" (cudnn, cublas …), version as pinned, the CUDA major it
// was built for and the architecture of the wheel. False: nobody scanned it,
// which refuses nothing.
func (m *Matrix) Library(pkg, version string, major int, arch string) (*Library, bool) {
	key := libraryKey{pkg, version, major, arch}
	known := m.index.libraries
	if known == nil {
		known = newIndex(m).libraries
	}
	l, ok := known[key]
	return l, ok
}

// A Pinned is one library of a build's stack.
type Pinned struct {
	Package, Version string
	Core             bool     // every job needs it; the others only some (NCCL, NVSHMEM, cuSPARSELt)
	Library          *Library // nil: nobody scanned it
}

// The libraries of the stack in the order of the answer.
var (
	coreLibraries = []string{"cudnn", "cublas", "cufft", "curand", "cusolver", "cusparse"}
	moreLibraries = []string{"nccl", "nvshmem", "cusparselt"}
)

// Stack returns the CUDA libraries that a build brings, as far as their versions
// are known, with what their bytes say. The bytes were read from Linux wheels;
// Windows builds bundle the same versions.
func (m *Matrix) Stack(b *Build) []Pinned {
	if b.CUDA.IsZero() {
		return nil
	}
	var out []Pinned
	add := func(names []string, core bool) {
		for _, n := range names {
			v := b.Pins[n]
			switch n {
			case "cudnn":
				v = b.CuDNN.String()
			case "nccl":
				v = b.NCCL.String()
			}
			if v == "" {
				continue
			}
			arch := b.Arch
			if arch == "arm64" {
				arch = "aarch64"
			}
			l, _ := m.Library(n, v, b.CUDA.Major(), arch)
			out = append(out, Pinned{n, v, core, l})
		}
	}
	add(coreLibraries, true)
	add(moreLibraries, false)
	return out
}

// Floor returns the driver floor of a build's label. A label that the data does
// not name takes that of its CUDA family (cu125: that of cu124).
func (m *Matrix) Floor(label string) (Floor, bool) {
	if f, ok := xslices.Find(m.Floors, func(f Floor) bool { return f.Label == label }); ok {
		return f, true
	}
	cuda, _ := LabelCUDA(label) // zero: of no family
	return xslices.Find(m.Floors, func(f Floor) bool { return f.CUDA.Major() == cuda.Major() && cuda.Major() > 10 })
}

// LabelCUDA returns the CUDA of a label: cu126 is 12.6, cu102 is 10.2.
func LabelCUDA(label string) (version.Dotted, bool) {
	if len(label) < 4 || label[:2] != "cu" {
		return version.Dotted{}, false
	}
	digits := label[2:]
	if _, err := strconv.Atoi(digits); err != nil {
		return version.Dotted{}, false
	}
	v, err := version.ParseDotted(digits[:len(digits)-1] + "." + digits[len(digits)-1:])
	return v, err == nil
}

// Branch returns a driver branch by its number.
func (m *Matrix) Branch(number int) (Branch, bool) {
	return xslices.Find(m.Branches, func(b Branch) bool { return b.Number == number })
}

// WholeDriver returns the release that a driver's number means: a branch alone, such
// as 580, means its newest release. On Windows, whose numbers count on within a
// branch, one such as 581 stays as it is. Its error says which branches there are.
func (m *Matrix) WholeDriver(v version.Dotted, windows bool) (version.Dotted, error) {
	if strings.Contains(v.String(), ".") {
		return v, nil
	}
	var known []string
	for _, b := range m.Branches {
		switch newest := b.Newest(windows); {
		case newest.IsZero():
		case b.Number == v.Major():
			return newest, nil
		case windows && b.Number < v.Major() && v.Major() <= newest.Major():
			return v, nil
		default:
			known = append(known, strconv.Itoa(b.Number))
		}
	}
	return v, fmt.Errorf("no driver branch %s is known; there are %s", v, strings.Join(known, ", "))
}

// NewestDriver is the newest release of a production branch that drives all of some
// compute capabilities; zero where none is known. A new feature branch, though its
// number is higher, is what NVIDIA says to try new features with: whoever says nothing
// of a driver has a production branch, and it is what would be installed.
func (m *Matrix) NewestDriver(sms []machine.SM, windows bool) version.Dotted {
	last := 0
	for _, sm := range sms {
		if a, ok := m.Arch(sm); ok && a.LastBranch > 0 && (last == 0 || a.LastBranch < last) {
			last = a.LastBranch
		}
	}
	var newest version.Dotted
	for _, b := range m.Branches {
		release := b.Newest(windows)
		if (b.Kind == "PB" || b.Kind == "LTS") && (last == 0 || b.Number <= last) && release.Compare(newest) > 0 {
			newest = release
		}
	}
	return newest
}

// Arch returns a compute capability.
func (m *Matrix) Arch(sm machine.SM) (Arch, bool) {
	return xslices.Find(m.Arches, func(a Arch) bool { return a.SM == sm })
}

// Release returns a release by its version.
func (m *Matrix) Release(torch string) (*Release, bool) {
	return xslices.Find(m.Releases, func(r *Release) bool { return r.Torch.String() == torch })
}

// Build returns a build of a release; ok is false where there is none.
func (r *Release) Build(label, os, arch string) (*Build, bool) {
	return xslices.Find(r.Builds, func(b *Build) bool { return b.Label == label && b.OS == os && b.Arch == arch })
}

// BuildOf returns a build of a torch; ok is false where the data knows none.
func (m *Matrix) BuildOf(torch, label, os, arch string) (b *Build, ok bool) {
	if r, known := m.Release(torch); known {
		b, ok = r.Build(label, os, arch)
	}
	return b, ok
}

// Companion returns the version of a companion of a build, and whether there is
// one that loads beside it.
func (b *Build) Companion(name string) (version.Python, bool) {
	if v, ok := b.Companions[name]; ok {
		p, err := version.ParsePython(v)
		return p, err == nil
	}
	v, ok := b.Release.Companions[name]
	return v, ok && !v.IsZero()
}

// Size returns what installing a build takes. false: nobody measured it; the
// numbers are then those of the newest measured release of the same build, or
// zero. Where the disk was not measured, it is to the download as where it was.
func (m *Matrix) Size(torch, build, os, arch string) (Size, bool) {
	var like, disk Size
	for _, s := range m.Sizes {
		if s.DiskMB > 0 && (disk.DiskMB == 0 || s.Build == build && disk.Build != build) {
			disk = s
		}
		if s.Build != build || s.OS != os || s.Arch != arch {
			continue
		}
		if exact := s.Torch.String() == torch; exact || like.DownloadMB == 0 {
			like = s
			if exact {
				break
			}
		}
	}
	if like.DiskMB == 0 && disk.DownloadMB > 0 {
		like.DiskMB = like.DownloadMB * disk.DiskMB / disk.DownloadMB
	}
	return like, like.Torch.String() == torch && torch != ""
}

// Day is the day that counts for one who asks: that of the clock, and the data's own
// where the clock stands before it and so is wrong.
func (m *Matrix) Day(clock string) string { return max(clock, m.Date) }

// Until returns the matrix without the releases that came after a day such as
// 2026-11-21, so that an answer can be given again later. Where all came after
// it, none is left out: such a day is no day on which somebody asked.
func (m *Matrix) Until(day string) *Matrix {
	past := *m
	past.Releases = slices.DeleteFunc(slices.Clone(m.Releases), func(r *Release) bool { return r.Date > day })
	if len(past.Releases) == 0 {
		return m
	}
	return &past
}

// A Read is what was read on an index of a package that the data has no row of.
type Read struct {
	Files      []Files
	Extensions []Extension
	Frameworks []Framework
}

// With returns the matrix with what was read.
func (m *Matrix) With(r Read) *Matrix {
	more := *m
	more.Extensions = slices.Concat(m.Extensions, r.Extensions)
	more.Frameworks = slices.Concat(m.Frameworks, r.Frameworks)
	more.Files = slices.Concat(m.Files, r.Files)
	more.index = newIndex(&more)
	return &more
}

// Distribution is the row of a distribution, by ID and VERSION_ID of its os-release.
func (m *Matrix) Distribution(id, version string) (Distribution, bool) {
	is := func(v string) bool { return version == v || strings.HasPrefix(version, v+".") }
	return xslices.Find(m.Distributions, func(d Distribution) bool { return slices.Contains(d.IDs, id) && slices.ContainsFunc(d.Versions, is) })
}
