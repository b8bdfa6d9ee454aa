package index

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"maps"
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/matrix"
)

// A Code is what one wheel asks of torch, of CUDA and of a GPU, by its metadata, the
// dynamic sections of its libraries and the fat binaries in them.
type Code struct {
	File, Version, OS, Arch string
	Torch                   string // what METADATA declares, narrowed by the C++ ABI of the symbols that are wanted
	CUDA                    string // major; "" none, or not known
	Native, PTX             string // of its libraries, where all were read
	Alone                   bool   // neither its metadata nor a library asks for torch
	GPU                     bool   // a library loads only beside the driver's own (libcuda.so.1)
	JIT                     bool   // torch and CUDA's sources, and no library: compiled at the first use
	Partial                 bool   // some library was too large for the limit
}

// The libraries that say which CUDA a wheel is for, on Linux and on Windows.
var (
	cudaLinked = lazy.Regexp(`^(?:lib(?:cudart|cublas|cublasLt|nvrtc|nvJitLink)\.so\.|(?:cudart64|cublas64|cublasLt64)_)(1[0-9])`)
	cudaNamed  = lazy.Regexp(`^(?:nvidia-[a-z-]+|.+)-cu(?:da)?(1[0-9])(?:[0-9]|x)?$`)
	torchLinks = lazy.Regexp(`^(?:lib)?(?:torch|c10)(?:_|\.|$)`)
	oldABI     = lazy.Regexp(`_ZN(?:3c10|2at|5torch)[A-Za-z0-9_]*RKSs`)
	namedTorch = lazy.Regexp(`torch_([0-9]+\.[0-9]+\.[0-9]+)\.(?:so|dll|dylib)$`)
	sonames    = lazy.Regexp(`lib[A-Za-z0-9_+-]+\.so(?:\.[0-9]+)*|[A-Za-z0-9_]+\.dll`)
)

// headSize is how much of a library beyond the limit is searched for the names of others:
// the table of names is near its start, unless it was moved.
const headSize = 8 << 20

// Code reads a wheel. Libraries of more than limit bytes are not read whole.
func (c *Client) Code(ctx context.Context, f File, limit int64) (*Code, error) {
	w, err := c.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	meta, err := w.metadata(ctx)
	if err != nil {
		return nil, err
	}
	n, _ := ParseName(f.Name)
	k := &Code{File: f.Name, Version: n.Version, Alone: true}
	k.OS, k.Arch = n.Platform()
	k.requires(meta, pep508.EnvironmentOf(k.OS, k.Arch, cmp.Or(n.Interpreter(), "3.12")))
	sources, olds, libraries := false, false, w.shared()
	for _, name := range w.names {
		sources = sources || path.Ext(name) == ".cu"
	}
	found := Fatbins{Native: map[string]int{}, PTX: map[string]int{}}
	linked, bundled := "", map[string]bool{}
	for _, name := range libraries {
		bundled[path.Base(name)] = true
	}
	for _, name := range libraries {
		needs, old, code, err := w.library(ctx, name, &limit)
		if err != nil {
			return nil, err
		}
		k.Partial = k.Partial || code == nil
		if code != nil {
			add(found.Native, code.Native)
			add(found.PTX, code.PTX)
		}
		for _, soname := range needs {
			if m := cudaLinked().FindStringSubmatch(soname); m != nil && !bundled[soname] {
				linked = cmp.Or(linked, m[1])
			}
			k.Alone = k.Alone && !torchLinks().MatchString(soname)
			k.GPU = k.GPU || soname == "libcuda.so.1" && code != nil
		}
		olds = olds || old
	}
	if olds {
		k.Torch = strings.TrimPrefix(k.Torch+",<2.7", ",") // the last build with that ABI is of 2.6
	}
	if m := cudaNamed().FindStringSubmatch(n.Project); m != nil {
		k.CUDA, k.GPU = m[1], true // who asks for it by such a name does not mean a CPU
	}
	k.GPU = k.GPU || strings.Contains(n.Project, "-gpu")
	if named := torchNamed(libraries); named != "" && (k.Torch == "" || k.Torch == "<2.7") {
		k.Torch, k.Alone = named, false
	}
	k.CUDA = cmp.Or(linked, k.CUDA)
	k.JIT = sources && !k.Alone && len(libraries) == 0
	if !k.Partial {
		k.Native, k.PTX = words(found.Native), words(found.PTX)
	}
	return k, nil
}

// torchNamed are the releases of torch that libraries are named for, such as
// libgraphbolt_pytorch_2.2.1.so; "" none is.
func torchNamed(libraries []string) string {
	var all []version.Python
	for _, name := range libraries {
		if m := namedTorch().FindStringSubmatch(path.Base(name)); m != nil {
			if v, err := version.ParsePython(m[1]); err == nil {
				all = append(all, v)
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return ">=" + slices.MinFunc(all, version.Python.Compare).String() + ",<=" + slices.MaxFunc(all, version.Python.Compare).String()
}

// requires takes what METADATA says: torch, and packages of one CUDA.
func (k *Code) requires(meta *Metadata, env pep508.Environment) {
	for _, r := range meta.Requires {
		if !env.Admits(r.Marker) || strings.Contains(r.Marker, "extra") {
			continue
		}
		if r.Name == "torch" {
			k.Torch, k.Alone = r.Spec.String(), false
		}
		if m := cudaNamed().FindStringSubmatch(r.Name); m != nil {
			k.CUDA = cmp.Or(k.CUDA, m[1])
		} else if r.Name == "cuda-toolkit" && strings.HasPrefix(r.Spec.String(), "==1") {
			k.CUDA = cmp.Or(k.CUDA, r.Spec.String()[2:4])
		}
	}
}

// shared lists the libraries of a wheel for any system, the smallest first.
func (w *Wheel) shared() []string {
	names := slices.DeleteFunc(slices.Clone(w.names), func(n string) bool {
		base := path.Base(n)
		return !strings.HasSuffix(base, ".so") && !strings.Contains(base, ".so.") && !slices.Contains([]string{".pyd", ".dll", ".dylib"}, path.Ext(base))
	})
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(w.members[a].size, w.members[b].size) })
	return names
}

// library reads one: what it links, whether it wants torch's old C++ ABI, and the code in
// it; nil where limit, which goes down by what is read, does not reach.
func (w *Wheel) library(ctx context.Context, name string, limit *int64) (needs []string, old bool, code *Fatbins, err error) {
	scan, whole := newFatScan(), w.members[name].size <= *limit
	var b bytes.Buffer
	err = w.Stream(ctx, name, 1<<20, func(p []byte) error {
		b.Write(p)
		if !whole && b.Len() >= headSize {
			return ErrStop
		}
		return scan.feed(p)
	})
	if err != nil {
		return nil, false, nil, err
	}
	old = oldABI().Match(b.Bytes())
	*limit -= int64(b.Len())
	if whole {
		code = &scan.found
		if f, err := elf.NewFile(bytes.NewReader(b.Bytes())); err == nil {
			if needs, err = f.ImportedLibraries(); err == nil && len(needs) > 0 {
				return needs, old, code, nil
			}
		}
	}
	for _, m := range sonames().FindAll(b.Bytes(), 4000) {
		needs = append(needs, string(m))
	}
	return needs, old, code, nil
}

func add(to, from map[string]int) {
	for name, n := range from {
		to[name] += n
	}
}

// Rows is a wheel as the matrix tells of wheels: a framework beside torch where it needs
// none and computes with a CUDA. source says where it was read.
func (k *Code) Rows(m *matrix.Matrix, source string) (e matrix.Extension, f *matrix.Framework) {
	n, _ := ParseName(k.File)
	e = matrix.Extension{Package: n.Project, OS: k.OS, Arch: k.Arch, CUDA: k.CUDA, Proof: matrix.ByWheel, Source: source}
	e.Version, _ = version.ParsePython(k.Version)
	e.Torch, _ = version.ParseSpecifier(k.Torch)
	for _, x := range []struct {
		list string
		code *[]matrix.Code
	}{{k.Native, &e.Native}, {k.PTX, &e.PTX}} {
		for name := range strings.FieldsSeq(x.list) {
			*x.code = append(*x.code, parseCodes(map[string]int{name: 1})...)
		}
	}
	if !k.Alone {
		e.Fails = "import"
	}
	if k.JIT {
		e.Note = "JIT"
	}
	floor, ok := m.Floor("cu" + k.CUDA + "0")
	if !k.Alone || k.CUDA == "" || !ok {
		return e, nil
	}
	f = &matrix.Framework{Package: n.Project, Ask: n.Project, OS: k.OS, Arch: k.Arch, CUDA: k.CUDA, Driver: floor.Linux, DriverWin: floor.Windows,
		Apart: true, Proof: matrix.ByWheel, Source: source}
	f.Versions, _ = version.ParseSpecifier("==" + k.Version)
	for _, c := range e.Native {
		if f.MinSM.IsZero() || c.SM.Less(f.MinSM) {
			f.MinSM = c.SM
		}
	}
	if k.GPU {
		f.Plain = "none"
	}
	return e, f
}

// words are the architectures of which there is more than single kernels: at least 5 % of
// what the best-served one has.
func words(count map[string]int) string {
	most := 0
	for _, n := range count {
		most = max(most, n)
	}
	names := slices.DeleteFunc(slices.Collect(maps.Keys(count)), func(name string) bool { return count[name]*20 < most })
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return strings.Join(names, " ")
}

// NewestFor is the wheel of the newest release within a specifier that a Python loads on a
// system; "" any Python.
func (p *Project) NewestFor(spec version.Specifier, python string, h machine.Platform) (newest File, v version.Python, ok bool) {
	for _, f := range p.Files {
		n, is := ParseName(f.Name)
		w, err := version.ParsePython(n.Version)
		if !is || err != nil || f.Yanked || w.IsPreRelease() || !spec.Admits(w) || ok && w.Compare(v) <= 0 || !f.Loads(python, h) {
			continue
		}
		newest, v, ok = f, w, true
	}
	return newest, v, ok
}

// Loads reports whether a wheel is for a system and a Python, such as 3.12; "" any.
func (f File) Loads(python string, h machine.Platform) bool {
	demand, err := version.ParseSpecifier(f.RequiresPython)
	if at, bad := version.ParsePython(strings.TrimSuffix(python, "t")); err == nil && bad == nil && !demand.IsZero() && !demand.Admits(at) {
		return false
	}
	rows := (&Project{Name: "x", Files: []File{{Name: f.Name}}}).Rows()
	return slices.ContainsFunc(rows, func(row matrix.Files) bool { return row.Loads(python, h) })
}
