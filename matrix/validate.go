package matrix

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/version"
)

// Check reads a matrix strictly and returns everything that is wrong with it:
// form, references, order, duplicates, dates, brackets, the device table, and a
// compiled form that is not of these files.
func Check(fsys fs.FS) []Fault {
	m, faults := read(fsys, false)
	faults = append(faults, checkCompiled(fsys, m)...)
	faults = append(faults, checkWheels(fsys, m)...)
	return unique(append(faults, checkDevices(fsys, m)...))
}

// checkCompiled finds a compiled form beside the files that is not of them: the
// program would be built with older data than they hold.
func checkCompiled(fsys fs.FS, m *Matrix) []Fault {
	blob, err := fs.ReadFile(fsys, "matrix.bin")
	if err != nil || Decompile(string(blob), m.SHA256) != nil {
		return nil
	}
	return []Fault{{File: "data/matrix.bin", Text: "it is not of these files: run `go generate ./data`"}}
}

// A checker collects faults of meaning, each at the place of its row.
type checker struct {
	m      *Matrix
	faults []Fault
}

// fault reports a row; place is its Source, "data/file:line".
func (c *checker) fault(place, format string, args ...any) {
	file, line := placed(place)
	c.faults = append(c.faults, Fault{file, line, fmt.Sprintf(format, args...)})
}

// wrong reports a row where something is so.
func (c *checker) wrong(so bool, place, format string, args ...any) {
	if so {
		c.fault(place, format, args...)
	}
}

// placed are the parts of a Source.
func placed(source string) (file string, line int) {
	file, digits, _ := strings.Cut(source, ":")
	line, _ = strconv.Atoi(digits)
	return file, line
}

// validate checks what the rows mean.
func (m *Matrix) validate() []Fault {
	c := &checker{m: m}
	c.head()
	c.releases()
	c.drivers()
	c.twice()
	c.rows()
	c.beside()
	c.brackets()
	return c.faults
}

var (
	matrixVersion = lazy.Regexp(`^20\d\d\.([1-9]|1[0-2])\.\d{1,3}$`)
	labelForm     = lazy.Regexp(`^(cu\d{3}|cpu|xpu|mps|rocm\d+\.\d+(\.\d+)?)$`)
	sha256Form    = lazy.Regexp(`^[0-9a-f]{64}$`)
	freeForm      = lazy.Regexp(`^3\.\d+t$`)
	tagForm       = lazy.Regexp(`^(?:py[23]\d*|cp3\d+(?:t|-abi3)?)$`)
	urlForm       = lazy.Regexp(`^https://[a-z0-9.-]+/[A-Za-z0-9._~/-]*$`)
)

func (c *checker) head() {
	c.wrong(!matrixVersion().MatchString(c.m.Version), "data/matrix.yaml", "version: %q is not of the form 2026.11.2", text.Cut(c.m.Version, 60))
	c.date("data/matrix.yaml", "date", c.m.Date)
	c.wrong(len(c.m.Releases) == 0, "data/torch", "no releases")
}

// date checks a day such as 2026-11-21.
func (c *checker) date(place, what, day string) {
	var y, m, d int
	n, _ := fmt.Sscanf(day, "%4d-%2d-%2d", &y, &m, &d)
	days := []int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	if y%4 == 0 {
		days[1] = 29
	}
	if n != 3 || len(day) != 10 || y < 2007 || y > 2099 || m < 1 || m > 12 || d < 1 || d > days[m-1] {
		c.fault(place, "%s: %q is not a day such as 2026-11-21", what, text.Cut(day, 60))
	}
}

func (c *checker) releases() {
	seen := map[string]string{}
	for i, r := range c.m.Releases {
		v := r.Torch.String()
		if at, twice := seen[v]; twice {
			c.fault(r.Source, "torch %s is there twice; the other is at %s", v, at)
		}
		seen[v] = r.Source
		c.date(r.Source, "date", r.Date)
		c.wrong(c.m.Date != "" && r.Date > c.m.Date, r.Source, "torch %s is of %s, and the data of %s", v, r.Date, c.m.Date)
		c.wrong(r.Torch.IsPreRelease(), r.Source, "torch %s is not a final release", v)
		if _, ok := r.Companions["torchvision"]; !ok {
			c.fault(r.Source, "torch %s names no torchvision", v)
		}
		c.wrong(len(r.Builds) == 0, r.Source, "torch %s has no builds", v)
		if i > 0 {
			newer := c.m.Releases[i-1]
			file, line := placed(r.Source)
			if other, above := placed(newer.Source); other == file && above > line {
				c.fault(r.Source, "torch %s stands above %s: newest first", v, newer.Torch)
			}
		}
		c.builds(r)
	}
}

func (c *checker) builds(r *Release) {
	seen := map[[3]string]bool{}
	defaults := map[[2]string]string{}
	var above *Build
	for _, b := range r.Builds {
		key := [3]string{b.Label, b.OS, b.Arch}
		c.wrong(seen[key], b.Source, "torch %s %s for %s %s is there twice", r.Torch, b.Label, b.OS, b.Arch)
		seen[key] = true
		if b.Default {
			on := [2]string{b.OS, b.Arch}
			if other := defaults[on]; other != "" {
				c.fault(b.Source, "torch %s: %s and %s cannot both be the default index's for %s %s", r.Torch, other, b.Label, b.OS, b.Arch)
			}
			defaults[on] = b.Label
		}
		if above != nil && above.OS == b.OS && above.Arch == b.Arch && !above.Default && b.Default {
			c.fault(b.Source, "torch %s: the default index's build comes first", r.Torch)
		}
		above = b
		c.build(b)
		c.compute(b)
	}
}

// build checks one row by itself.
func (c *checker) build(b *Build) {
	c.wrong(!labelForm().MatchString(b.Label), b.Source, "build: %q is none of cuNNN, cpu, rocmN.N, xpu, mps", text.Cut(b.Label, 60))
	c.wrong(b.Index != "" && !urlForm().MatchString(b.Index), b.Source, "index: %q is not an https URL", text.Cut(b.Index, 60))
	c.wrong(b.Index == "" && !b.Default, b.Source, "%s has no index and is not the default index's: nobody could install it", b.Label)
	c.wrong(b.PythonMax.Compare(b.PythonMin) < 0, b.Source, "python: %s comes before %s", b.PythonMax, b.PythonMin)
	for _, f := range b.FreeThreaded {
		v, err := version.ParsePython(strings.TrimSuffix(f, "t"))
		if !freeForm().MatchString(f) || err != nil || v.Compare(b.PythonMin) < 0 || v.Compare(b.PythonMax) > 0 {
			c.fault(b.Source, "free_threaded: %q is not such as 3.14t within %s to %s", text.Cut(f, 60), b.PythonMin, b.PythonMax)
		}
	}
	c.wrong((b.OS == "linux") == b.Glibc.IsZero(), b.Source, "glibc: given for %s exactly where it is Linux", b.OS)
	c.wrong((b.OS == "macos") == b.MacOSMin.IsZero(), b.Source, "macos: given for %s exactly where it is macOS", b.OS)
	c.wrong(b.Label == "mps" && (b.OS != "macos" || b.Arch != "arm64"), b.Source, "mps is of macOS on arm64, not of %s on %s", b.OS, b.Arch)
}

// compute checks a build's CUDA and its code.
func (c *checker) compute(b *Build) {
	cuda, isCUDA := LabelCUDA(b.Label)
	if !isCUDA {
		c.wrong(!b.CUDA.IsZero() || len(b.Native)+len(b.PTX) > 0, b.Source, "%s is not a CUDA build and has CUDA or GPU code", b.Label)
		return
	}
	c.wrong(b.CUDA.MajorMinor() != cuda.MajorMinor(), b.Source, "cuda: %q is not that of %s", b.CUDA, b.Label)
	c.wrong(b.CuDNN.IsZero(), b.Source, "cudnn: a CUDA build without cuDNN")
	c.wrong(len(b.Native) == 0, b.Source, "cubins: a CUDA build without code")
	if !slices.ContainsFunc(c.m.Floors, func(f Floor) bool { return f.Label == b.Label }) {
		c.fault(b.Source, "no driver floor is given for %s", b.Label)
	}
	c.codes(b.Source, "cubins", b.Native)
	c.codes(b.Source, "ptx", b.PTX)
}

// codes checks a list of GPU code: known capabilities, lowest first, once each.
func (c *checker) codes(place, key string, list []Code) {
	for i, x := range list {
		if _, ok := c.m.Arch(x.SM); !ok {
			c.fault(place, "%s: %s is not among the arches", key, x.SM)
		}
		if i > 0 && (x.SM.Less(list[i-1].SM) || x == list[i-1]) {
			c.fault(place, "%s: %s after %s: lowest first, once each", key, x, list[i-1])
		}
	}
}

// brackets holds the builds against the rows that say where support begins and
// ends, and finds the ends that no row names.
func (c *checker) brackets() {
	named := map[string]bool{}
	for _, b := range c.m.Brackets {
		has, not := c.bracketBuild(b, b.Has), c.bracketBuild(b, b.Not)
		if has == nil || not == nil {
			continue
		}
		if yes, _ := c.m.Covers(has.Native, has.PTX, b.SM); !yes {
			c.fault(b.Source, "%s is said to have code for %s, and has none", b.Has, b.SM)
		}
		if yes, _ := c.m.Covers(not.Native, not.PTX, b.SM); yes {
			c.fault(b.Source, "%s is said to have no code for %s, and has it", b.Not, b.SM)
		}
		named[b.SM.String()+b.Has+b.Not] = true
	}
	if len(c.m.Brackets) > 0 {
		c.edges(named)
	}
}

func (c *checker) bracketBuild(b Bracket, name string) *Build {
	words := strings.Fields(name)
	if len(words) == 3 {
		os, arch, _ := strings.Cut(words[2], "-")
		if build, ok := c.m.BuildOf(words[0], words[1], os, arch); ok {
			return build
		}
	}
	c.fault(b.Source, "%q names no build such as \"2.9.1 cu126 linux-x86_64\"", text.Cut(name, 60))
	return nil
}

// edges finds neighbouring releases of one label and platform between which a
// capability comes or goes.
func (c *checker) edges(named map[string]bool) {
	newer := map[[3]string]*Build{}
	for _, r := range c.m.Releases {
		for _, b := range r.Builds {
			key := [3]string{b.Label, b.OS, b.Arch}
			if n := newer[key]; n != nil && n.Release != r && !b.CUDA.IsZero() {
				c.edge(b, n, named)
			}
			newer[key] = b
		}
	}
}

func (c *checker) edge(older, newer *Build, named map[string]bool) {
	name := func(b *Build) string {
		return fmt.Sprintf("%s %s %s-%s", b.Release.Torch, b.Label, b.OS, b.Arch)
	}
	for _, a := range c.m.Arches {
		was, _ := c.m.Covers(older.Native, older.PTX, a.SM)
		is, _ := c.m.Covers(newer.Native, newer.PTX, a.SM)
		switch {
		case was && !is && !named[a.SM.String()+name(older)+name(newer)]:
			c.fault(newer.Source, "%s has no code for %s, which %s has, and no bracket says so", name(newer), a.SM, name(older))
		case !was && is && !named[a.SM.String()+name(newer)+name(older)]:
			c.fault(newer.Source, "%s has code for %s, which %s has not, and no bracket says so", name(newer), a.SM, name(older))
		}
	}
}

// drivers checks floors, branches, toolkits and architectures.
func (c *checker) drivers() {
	for _, b := range c.m.Branches {
		c.branch(b)
	}
	for _, a := range c.m.Arches {
		c.modules(a.Source, a.Modules)
		if _, ok := c.m.Branch(a.LastBranch); a.LastBranch > 390 && !ok {
			c.fault(a.Source, "last_branch: %d is no driver branch", a.LastBranch)
		}
	}
	for _, r := range c.m.CubinRules {
		for _, sm := range []machine.SM{r.Cubin, r.Device} {
			if _, ok := c.m.Arch(sm); !ok {
				c.fault("data/arches.yaml", "a cubin rule names %s, which is not among the arches", sm)
			}
		}
	}
}

func (c *checker) branch(b Branch) {
	for what, v := range map[string]version.Dotted{"linux": b.Latest, "windows": b.LatestWindows} {
		// a Windows branch goes on counting above Linux's: 580.x, 581.x, 582.x
		c.wrong(!v.IsZero() && (v.Major() < b.Number || v.Major() > b.Number+9), b.Source, "%s: %s is not of branch %d", what, v, b.Number)
	}
	for what, day := range map[string]string{"first": b.First, "eol": b.EOL} {
		if day != "" {
			c.date(b.Source, what, day)
		}
	}
	c.modules(b.Source, b.Modules)
}

func (c *checker) modules(place string, flavours []string) {
	for _, f := range flavours {
		c.wrong(f != "open" && f != "proprietary", place, "modules: %q is neither open nor proprietary", text.Cut(f, 60))
	}
}
