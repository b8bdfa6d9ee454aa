package index

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// A Code is what one wheel asks of torch, of CUDA and of a GPU, by its metadata, the
// dynamic sections of its libraries and the fat binaries in them.
type Code struct {
	File, Version, OS, Arch string
	Torch                   string // what METADATA declares, narrowed by the C++ ABI of the symbols that are wanted
	CUDA, CuDNN             string // majors; "" none, or not known
	Native, PTX             string // of its libraries, where all were read
	Alone                   bool   // neither its metadata nor a library asks for torch
	GPU                     bool   // a library loads only beside the driver's own (libcuda.so.1)
	Opens                   bool   // a library opens a GPU's driver itself: CUDA's or OpenCL's
	API                     string // what else than CUDA a library computes with on a GPU, of apis; "" nothing
	Lacks                   string // what it asks for and no package that it requires brings: "CUDA 12, cuDNN 9"
	JIT                     bool   // torch and CUDA's sources, no code for a GPU and no library of torch: compiled at the first use
	Partial                 bool   // some library was too large for the limit
	Unsure                  bool   // so that nobody knows whether it holds its CUDA
	symbols                 string // the torches that have the symbols of c10 that it wants
}

// The libraries that say which CUDA a wheel is for, on Linux and on Windows.
var (
	cudaLinked = lazy.Regexp(`^(?:lib(?:cudart|cublas|cublasLt|nvrtc|nvJitLink)(?:-[0-9a-f]{8})?\.so\.|(?:cudart64|cublas64|cublasLt64)_)(1[0-9])`)
	cudnnNamed = lazy.Regexp(`^(?:libcudnn(?:_[a-z_]+)?\.so\.|cudnn(?:_[a-z_]+)?64_)([89])`)
	cudaNamed  = lazy.Regexp(`^(?:nvidia-[a-z-]+|.+)-cu(?:da)?(1[0-9])(?:[0-9]|x)?$`)
	cudaMade   = lazy.Regexp(`Cuda compilation tools, release (1[0-9])\.`) // of nvrtc, linked into a library
	ncclMade   = lazy.Regexp(`\+cuda(1[0-9])\.[0-9]`)                      // of NCCL
	drivers    = lazy.Regexp(`^(?:libcuda\.so|nvcuda\.dll|libOpenCL\.so|OpenCL\.dll)`)
	brings     = lazy.Regexp(`^(?:nvidia-.*|cuda-.*|torch)$`)
	torchLinks = lazy.Regexp(`^(?:lib)?(?:torch|c10)(?:_|\.|$)`)
	oldABI     = lazy.Regexp(`_ZN(?:3c10|2at|5torch)[A-Za-z0-9_]*RKSs`)
	namedTorch = lazy.Regexp(`torch_([0-9]+\.[0-9]+\.[0-9]+)\.(?:so|dll|dylib)$`)
	soname     = lazy.Regexp(`lib[A-Za-z0-9_+-]+\.so(?:\.[0-9]+)*$|[A-Za-z0-9_]+\.dll$`)
)

// apis are what libraries compute with on GPUs, other than CUDA, and what tells so.
var apis = [...]struct{ name, sign string }{{"OpenCL", "OPENCL EXTENSION cl_khr"}, {"DirectML", "DirectML.dll"}, {"Metal", "/Metal.framework/"}}

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
	libraries := w.shared()
	sources := slices.ContainsFunc(w.names, func(name string) bool { return path.Ext(name) == ".cu" })
	k.OS = cmp.Or(k.OS, systemOf(libraries)) // what is for any system by its name may hold libraries of one
	found, err := w.links(ctx, libraries, &limit)
	if err != nil {
		return nil, err
	}
	k.Partial = found.partial
	k.API = cmp.Or(k.API, found.api)
	k.Opens = k.API != "" || slices.ContainsFunc(found.opens, drivers().MatchString)
	k.GPU = slices.Contains(found.loads, "libcuda.so.1")
	ofTorch := slices.ContainsFunc(found.needs, torchLinks().MatchString)
	k.Alone = k.Alone && !ofTorch
	if k.symbols = beside(c.torches, found.wants); k.symbols != "" {
		k.Torch = strings.TrimPrefix(k.Torch+","+k.symbols, ",")
	} else if found.old {
		k.Torch = strings.TrimPrefix(k.Torch+",<2.7", ",") // the last build with that ABI is of 2.6
	}
	if m := cudaNamed().FindStringSubmatch(n.Project); m != nil {
		k.CUDA, k.GPU = m[1], true // who asks for it by such a name does not mean a CPU
	}
	k.GPU = k.GPU || strings.Contains(n.Project, "-gpu")
	if named := torchNamed(libraries); named != "" && (k.Torch == "" || k.Torch == "<2.7") {
		k.Torch, k.Alone = named, false
	}
	if !k.Partial {
		k.Native, k.PTX = words(found.code.Native, found.code.Native), words(found.code.PTX, found.code.Native)
	}
	k.ofCUDA(found, meta)
	k.JIT = sources && !k.Alone && !k.Partial && k.Native+k.PTX == "" && !ofTorch
	return k, nil
}

// ofCUDA finds the CUDA of a wheel: that its libraries link, else the only one that they open,
// else that its metadata names, else that they were compiled with, else that it holds itself.
func (k *Code) ofCUDA(found *links, meta *Metadata) {
	if k.OS == "macos" {
		return
	}
	opened := found.some(found.opens, cudaLinked())
	said := say.If(k.Partial || k.Native+k.PTX != "", meta.CUDA) // a classifier makes no code
	k.CUDA = cmp.Or(found.some(found.needs, cudaLinked()), k.CUDA, opened, said, found.some(found.made, cudaMade()), found.some(found.made, ncclMade()),
		new(links).some(slices.Sorted(maps.Keys(found.bundled)), cudaLinked()))
	k.CuDNN = found.some(found.opens, cudnnNamed())
	if !k.Alone || slices.ContainsFunc(meta.Requires, func(r pep508.Requirement) bool { return brings().MatchString(r.Name) }) {
		return
	}
	if opened != "" {
		k.Lacks = "CUDA " + opened
	}
	k.Unsure = k.Partial && opened == ""
	if k.CuDNN != "" {
		k.Lacks = strings.TrimPrefix(k.Lacks+", cuDNN "+k.CuDNN, ", ")
	}
}

// torchNamed are the releases of torch that libraries are named for, such as
// libgraphbolt_pytorch_2.2.1.so; "" none is.
func torchNamed(libraries []string) string {
	var all []version.Python
	for _, name := range libraries {
		if v, err := version.ParsePython(namedTorch.Group(path.Base(name))); err == nil {
			all = append(all, v)
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
		if strings.HasSuffix(r.Name, "-metal") {
			k.API = "Metal"
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

// systemOf is the system that libraries are for; "" there is none, or more than one.
func systemOf(libraries []string) (system string) {
	for _, name := range libraries {
		of := "linux"
		switch path.Ext(name) {
		case ".dll", ".pyd":
			of = "windows"
		case ".dylib":
			of = "macos"
		}
		if system != "" && system != of {
			return ""
		}
		system = of
	}
	return system
}

// links are what the libraries of a wheel ask for and hold.
type links struct {
	needs, opens []string // libraries that they load with, as far as was read, and all that they name
	loads        []string // those that they load with, for certain
	wants        []string // symbols of c10
	made         []string // what they say of the CUDA that compiled them
	bundled      map[string]bool
	code         Fatbins
	api          string // what else than CUDA they compute with
	old          bool   // they want torch's old C++ ABI
	partial      bool   // not all was read
}

// some is what an expression takes of names that a wheel does not hold itself, where all
// say the same; "" none does.
func (l *links) some(names []string, of *regexp.Regexp) string {
	var found []string
	for _, name := range names {
		if m := of.FindStringSubmatch(name); m != nil && !l.bundled[name] {
			found = xslices.Add(found, cmp.Or(m[1:]...))
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// links reads libraries, the smallest first, as far as limit reaches.
func (w *Wheel) links(ctx context.Context, libraries []string, limit *int64) (*links, error) {
	l := &links{bundled: map[string]bool{}, code: Fatbins{Native: map[string]int{}, PTX: map[string]int{}}}
	for _, name := range libraries {
		l.bundled[path.Base(name)] = true
	}
	for _, name := range libraries {
		err := w.library(ctx, name, limit, l)
		if l.partial = l.partial || errors.Is(err, context.DeadlineExceeded); l.partial && err != nil {
			break // who asks at once takes what was read
		}
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}

// library reads one: what it links and names, whether it wants torch's old C++ ABI, and the
// code in it where limit, which goes down by what is read, reaches.
func (w *Wheel) library(ctx context.Context, name string, limit *int64, l *links) error {
	scan, whole := newFatScan(), w.members[name].size <= *limit
	var b bytes.Buffer
	err := w.Stream(ctx, name, 1<<20, func(p []byte) error {
		b.Write(p)
		if !whole && b.Len() >= headSize {
			return ErrStop
		}
		return scan.feed(p)
	})
	if err != nil {
		return err
	}
	*limit -= int64(b.Len())
	l.old = l.old || oldABI().Match(b.Bytes())
	for _, a := range apis {
		if bytes.Contains(b.Bytes(), []byte(a.sign)) {
			l.api = cmp.Or(l.api, a.name)
		}
	}
	for _, of := range []*regexp.Regexp{cudaMade(), ncclMade()} {
		for _, m := range of.FindAll(b.Bytes(), 8) {
			l.made = xslices.Add(l.made, string(m))
		}
	}
	names := namesIn(b.Bytes())
	l.opens = append(l.opens, names...)
	l.partial = l.partial || !whole
	if whole {
		add(l.code.Native, scan.found.Native)
		add(l.code.PTX, scan.found.PTX)
		l.wants = append(l.wants, dynamic(b.Bytes(), true)...)
		if f, err := elf.NewFile(bytes.NewReader(b.Bytes())); err == nil {
			if needs, err := f.ImportedLibraries(); err == nil && len(needs) > 0 {
				names, l.loads = needs, append(l.loads, needs...)
			}
		}
	}
	l.needs = append(l.needs, names...)
	return nil
}

// namesIn are the names of libraries in some bytes, each once. It looks for what such names
// end with: an expression takes a second for 20 MB.
func namesIn(b []byte) []string {
	found := map[string]bool{}
	for _, end := range []string{".so", ".dll"} {
		for at := 0; ; {
			i := bytes.Index(b[at:], []byte(end))
			if i < 0 {
				break
			}
			from, to := at+i, at+i+len(end)
			for at = to; from > 0 && at-from < 80 && b[from-1] > ' ' && b[from-1] != '/' && b[from-1] < 0x7f; from-- {
			}
			for to < len(b) && to-at < 20 && (b[to] == '.' || b[to] >= '0' && b[to] <= '9') {
				to++
			}
			if m := soname().Find(bytes.TrimRight(b[from:to], ".")); m != nil {
				found[string(m)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
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
	codes := func(list string) (out []matrix.Code) {
		for name := range strings.FieldsSeq(list) {
			out = append(out, parseCodes(map[string]int{name: 1})...)
		}
		return out
	}
	e.Native, e.PTX = codes(k.Native), codes(k.PTX)
	if !k.Alone {
		e.Fails = "import"
		if known, ok := xslices.Find(m.Extensions, func(o matrix.Extension) bool { return o.Package == e.Package && o.Fails != "" }); ok {
			e.Fails = known.Fails // bytes do not say what its loader does
		}
	}
	if k.Partial && k.CUDA == "" {
		e.Proof = matrix.ByMetadata // what was not read may hold code
	}
	e.Note = say.If(k.JIT, "JIT")
	floor, ok := m.Floor("cu" + say.Either(k.CUDA == "10", "102", k.CUDA+"0")) // 10: of its last minor
	if !k.Alone || k.CUDA == "" && !k.Opens || k.CUDA != "" && !ok {
		return e, nil
	}
	f = &matrix.Framework{Package: n.Project, Ask: n.Project, OS: k.OS, Arch: k.Arch, CUDA: k.CUDA, Driver: floor.Linux, DriverWin: floor.Windows,
		API: say.If(k.CUDA == "", k.API), Apart: k.Lacks == "", Plain: say.If(k.GPU, "none"), Warning: k.warning(), Proof: matrix.ByWheel, Source: source}
	f.Versions, _ = version.ParseSpecifier("==" + k.Version)
	f.CuDNN, _ = version.ParseSpecifier(say.With("==", k.CuDNN, ".*"))
	for _, c := range append(slices.Clone(e.Native), e.PTX...) {
		if f.MinSM.IsZero() || c.SM.Less(f.MinSM) {
			f.MinSM = c.SM
		}
	}
	return e, f
}

// words are the architectures of which there is more than single kernels: at least 5 % of
// what the best-served one has, of its own kind or of native code.
func words(count, native map[string]int) string {
	most := 0
	for _, n := range slices.Concat(slices.Collect(maps.Values(count)), slices.Collect(maps.Values(native))) {
		most = max(most, n)
	}
	names := slices.DeleteFunc(slices.Collect(maps.Keys(count)), func(name string) bool { return count[name]*20 < most })
	digits := func(name string) int { return len(strings.TrimRight(name, "af")) } // 9.0a stands before 12.0
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(digits(a)-digits(b), cmp.Compare(a, b)) })
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

// warning is what a wheel for a CUDA does not bring, as far as it was read; "" nothing.
func (k *Code) warning() string {
	if k.Unsure && k.CUDA != "" {
		return "whether it brings CUDA " + k.CUDA + " was not read: if not, that is taken from a torch of that CUDA beside it, else installed apart"
	}
	return say.With("it brings no ", strings.ReplaceAll(k.Lacks, ", ", " and no "), ": they are taken from a torch of that CUDA beside it, else installed apart")
}
