package index

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// A Cache keeps what was counted in the libraries of a wheel, by the wheel's
// sha256, so that hundreds of megabytes are read once and a reading that was
// interrupted goes on where it stopped. Its functions are called by several
// goroutines.
type Cache struct {
	Load  func(sha256, member string) (Fatbins, bool)
	Store func(sha256, member string, f Fatbins)
}

// StackOptions say how a stack is proven.
type StackOptions struct {
	Cache    Cache
	Missing  bool                               // only libraries that the matrix has no row for
	Progress func(done, total int, file string) // may be nil
}

// ProveStack reads the fat binaries in the wheels of the CUDA libraries that
// builds of torch pin, and compares which GPUs they have code for with the rows
// of the matrix. It reads hundreds of megabytes per build.
func (c *Client) ProveStack(ctx context.Context, m *matrix.Matrix, builds []*matrix.Build, o StackOptions) ([]Proof, error) {
	var jobs []stackJob
	for _, b := range builds {
		for _, p := range m.Stack(b) {
			j := stackJob{build: b, pinned: p, row: p.Library}
			if o.Missing && j.row != nil {
				continue
			}
			if !slices.ContainsFunc(jobs, func(k stackJob) bool { return k.same(j) }) {
				jobs = append(jobs, j)
			}
		}
	}
	return proofs(ctx, len(jobs), func(ctx context.Context, i int) Proof { return c.proveLibrary(ctx, m, jobs[i], o.Cache) }, o.Progress)
}

// A stackJob is one library of one build.
type stackJob struct {
	build  *matrix.Build
	pinned matrix.Pinned
	row    *matrix.Library
}

func (j stackJob) same(k stackJob) bool {
	return j.pinned.Package == k.pinned.Package && j.pinned.Version == k.pinned.Version && j.build.Arch == k.build.Arch &&
		j.build.CUDA.Major() == k.build.CUDA.Major()
}

func (c *Client) proveLibrary(ctx context.Context, m *matrix.Matrix, j stackJob, cache Cache) Proof {
	b := j.build
	p := Proof{Torch: b.Release.Torch.String(), Build: b.Label, OS: b.OS, Arch: b.Arch, By: "fatbins", Verdict: Unread, Checks: []Check{}}
	if j.row != nil {
		p.Source = j.row.Source
	}
	f, err := c.libraryWheel(ctx, j)
	if err != nil {
		p.Error = err.Error()
		return p
	}
	p.File = f.Name
	counts, err := c.countAll(ctx, f, j.pinned.Package, cache)
	if err != nil {
		p.Error = err.Error()
		return p
	}
	p.Library = libraryRow(m, counts, j)
	check := Check{Field: j.pinned.Package + " " + j.pinned.Version, Wheel: served(m, counts, j.pinned.Package), Verdict: Differ}
	if j.row == nil {
		check.Note = "the matrix has no row for this library"
	} else {
		check.Row = servedByRow(m, j.row)
		check.Verdict = verdict(check.Row == check.Wheel)
	}
	p.Checks, p.Verdict = append(p.Checks, check), check.Verdict
	return p
}

// libraryWheel finds the wheel of a library: nvidia-cudnn-cu12, or, since CUDA 13,
// nvidia-cublas without a suffix.
func (c *Client) libraryWheel(ctx context.Context, j stackJob) (File, error) {
	names := []string{fmt.Sprintf("nvidia-%s-cu%d", j.pinned.Package, j.build.CUDA.Major())}
	if slices.Contains(toolkitLibraries, j.pinned.Package) && j.build.CUDA.Major() >= 13 {
		names = []string{"nvidia-" + j.pinned.Package}
	}
	p, err := c.Project(ctx, names[0])
	if err != nil {
		return File{}, err
	}
	want, err := version.ParsePython(j.pinned.Version)
	if err != nil {
		return File{}, err
	}
	var found []File
	for _, f := range p.Files {
		n, ok := ParseName(f.Name)
		v, err := version.ParsePython(n.Version)
		os, arch := "", ""
		if ok {
			os, arch = n.Platform()
		}
		if ok && err == nil && !f.Yanked && os == "linux" && arch == j.build.Arch && v.Compare(want) == 0 {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		return File{}, fmt.Errorf("the index has no %s %s for %s", names[0], want, j.build.Arch)
	}
	return latestBuilds(found)[0], nil
}

// judged says which libraries speak for a package: torch does not call nvblas,
// cufftw and cusolverMg, and cuDNN is judged by ops, adv and cnn, because
// engines_precompiled keeps code for GPUs that the rest has dropped.
func judged(pkg, library string) bool {
	switch pkg {
	case "cudnn":
		return cudnnParts().MatchString(library)
	case "nvshmem":
		return strings.HasPrefix(library, "libnvshmem_host.")
	}
	return !besides().MatchString(library)
}

var (
	cudnnParts = lazy.Regexp(`_(ops|adv|cnn)(_infer|_train)?\.so`)
	besides    = lazy.Regexp(`nvblas|cufftw|cusolverMg`)
)

// countAll counts the code in every library of a wheel that speaks for it.
func (c *Client) countAll(ctx context.Context, f File, pkg string, cache Cache) (map[string]Fatbins, error) {
	w, err := c.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	counts := map[string]Fatbins{}
	for _, member := range w.shared() {
		base := path.Base(member)
		if !judged(pkg, base) {
			continue
		}
		if f.SHA256 != "" && cache.Load != nil {
			if known, ok := cache.Load(f.SHA256, member); ok {
				counts[base] = known
				continue
			}
		}
		found, err := w.Fatbins(ctx, member)
		if err != nil {
			return nil, err
		}
		counts[base] = found
		if f.SHA256 != "" && cache.Store != nil {
			cache.Store(f.SHA256, member, found)
		}
	}
	maps.DeleteFunc(counts, func(_ string, f Fatbins) bool { return len(f.Native)+len(f.PTX) == 0 })
	if len(counts) == 0 {
		return nil, fmt.Errorf("%s: no library of it has GPU code", f.Name)
	}
	return counts, nil
}

// served lists the GPUs that every library has code for: cubins, or "+" and PTX
// only. Cubins count where they are at least 5 % of what the best-served
// architecture has; single kernels do not make a library work. PTX of
// cuSPARSELt and NVSHMEM is left out: it is of single kernels.
func served(m *matrix.Matrix, counts map[string]Fatbins, pkg string) string {
	return servedList(m, func(sm machine.SM) (native, ptx bool) {
		native, any := true, true
		for _, f := range counts {
			n := serves(m, f, sm)
			native = native && n
			_, jit := m.Covers(nil, parseCodes(f.PTX), sm)
			any = any && (n || (jit && pkg != "cusparselt" && pkg != "nvshmem"))
		}
		return native, any
	})
}

func serves(m *matrix.Matrix, f Fatbins, sm machine.SM) bool {
	usable, best := 0, 0
	for name, n := range f.Native {
		best = max(best, n)
		if ok, _ := m.Covers(parseCodes(map[string]int{name: n}), nil, sm); ok {
			usable += n
		}
	}
	return usable > 0 && usable*20 >= best
}

// parseCodes turns "9.0a" into a code.
func parseCodes(names map[string]int) []matrix.Code {
	var codes []matrix.Code
	for name := range names {
		digits := strings.TrimRight(name, "af")
		if sm, err := machine.ParseSM(digits); err == nil {
			codes = append(codes, matrix.Code{SM: sm, Suffix: name[len(digits):]})
		}
	}
	return codes
}

func servedByRow(m *matrix.Matrix, l *matrix.Library) string {
	return servedList(m, func(sm machine.SM) (native, any bool) {
		native, ptx := m.Covers(l.Native, l.PTX, sm)
		return native, native || ptx
	})
}

// servedList writes the answers for every GPU generation that the matrix knows;
// those of Tegra aside, which NVIDIA promises no desktop cubins for.
func servedList(m *matrix.Matrix, on func(machine.SM) (native, any bool)) string {
	var words []string
	for _, sm := range judgedGPUs(m) {
		native, any := on(sm)
		switch {
		case native:
			words = append(words, sm.String())
		case any:
			words = append(words, "+"+sm.String())
		}
	}
	return strings.Join(words, " ")
}

func judgedGPUs(m *matrix.Matrix) []machine.SM {
	sms := text.Each(m.Arches, func(a matrix.Arch) machine.SM { return a.SM })
	return xslices.Filter(sms, func(sm machine.SM) bool { return sm.Major >= 3 && !isTegra(m, sm) })
}

// isTegra reports whether code of a GPU's own generation does not run on it.
// That is how PyTorch's list sets Tegra apart: 8.0 does not run on 8.7; but 8.7
// not on 8.9 says something of 8.7 only.
func isTegra(m *matrix.Matrix, sm machine.SM) bool {
	return slices.ContainsFunc(m.CubinRules, func(r matrix.CubinRule) bool {
		return r.Device == sm && !r.Runs && !isTegra(m, r.Cubin)
	})
}

// libraryRow is the row of the matrix that says what the bytes say, as short as
// it can be; nil where no list of code does.
func libraryRow(m *matrix.Matrix, counts map[string]Fatbins, j stackJob) *matrix.Library {
	v, err := version.ParseDotted(j.pinned.Version)
	if err != nil {
		return nil
	}
	l := &matrix.Library{Package: j.pinned.Package, Version: v, Major: j.build.CUDA.Major(), Arch: j.build.Arch}
	want := served(m, counts, j.pinned.Package)
	words := strings.Fields(want)
	for _, sm := range judgedGPUs(m) {
		if !slices.Contains(words, sm.String()) {
			continue
		}
		if runs, _ := m.Covers(l.Native, l.PTX, sm); runs {
			continue
		}
		code := matrix.Code{SM: sm}
		for _, other := range judgedGPUs(m) { // does it serve one that is not served?
			if runs, _ := m.Covers([]matrix.Code{code}, nil, other); runs && !slices.Contains(words, other.String()) {
				code.Suffix = "a"
			}
		}
		l.Native = append(l.Native, code)
	}
	if servedByRow(m, l) == want {
		return l
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		for ptx := range counts[name].PTX {
			if l.PTX = parseCodes(map[string]int{ptx: 1}); servedByRow(m, l) == want {
				return l
			}
		}
	}
	return nil
}
