// Package libraries reads which libraries an environment's torch would load and from where,
// what keeps them from binding, and what put another one in their place. It loads none.
package libraries

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"envfix/internal/lazy"
	"envfix/internal/loader"
	"envfix/internal/machine"
	"envfix/internal/probe/platform"
	"envfix/internal/probe/python"
	"envfix/internal/probe/sysroot"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// levels are those of x86-64 that glibc-hwcaps has directories for, and a flag of the
// processor by which each is known here (gcc.gnu.org, x86 options, -march=x86-64-v3).
var levels = [][2]string{{"x86-64-v4", "avx512vl"}, {"x86-64-v3", "avx2"}, {"x86-64-v2", "sse4_2"}}

// linkView is what the interpreter of an environment has loaded before it imports anything.
func linkView(h *sysroot.Host, python string) *loader.View {
	f := platform.Loader(h)
	f.Cache = loader.ReadCache(h.Bytes("/etc/ld.so.cache", sysroot.MaxFile))
	f.Default = []string{"/lib64", "/usr/lib64", "/lib", "/usr/lib"}
	if triplet := map[string]string{"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}[platform.Arch(h)]; triplet != "" { // Debian's
		f.Default = append([]string{"/lib/" + triplet, "/usr/lib/" + triplet}, f.Default...)
	}
	if at := h.Resolved(platform.Interpreter(h, python)); strings.HasPrefix(at, "/nix/") {
		f.Default = []string{path.Dir(at)}
	}
	if platform.Arch(h) == "x86_64" {
		_, flags, _ := strings.Cut(h.Text("/proc/cpuinfo"), "\nflags")
		flags, _, _ = strings.Cut(flags, "\n")
		for _, l := range levels {
			if slices.Contains(strings.Fields(flags), l[1]) {
				f.Levels = append(f.Levels, l[0])
			}
		}
	}
	return f.Start(h.Resolved(python), func(o *loader.Object) []string { return openedBy(h, o) })
}

// openedBy lists what a library opens by name while it works: libcudart and torch's own the
// driver's library, cuDNN its parts. libcudnn.so.9 opens those but the engines and
// heuristics, which libcudnn_graph.so.9 opens (the names in the files of 9.26).
func openedBy(h *sysroot.Host, o *loader.Object) (parts []string) {
	if strings.HasPrefix(o.Name, "libcudart") || o.Name == "libc10_cuda.so" { // of which some wheels have one with a name of its own, or within
		return []string{"libcuda.so.1"}
	}
	stem, major, _ := strings.Cut(o.Name, ".so.")
	if stem != "libcudnn" && stem != "libcudnn_graph" || major == "" {
		return nil
	}
	for _, f := range h.Names(o.Dir) {
		late := strings.HasPrefix(f, "libcudnn_engines_") || strings.HasPrefix(f, "libcudnn_heuristic")
		if strings.HasPrefix(f, "libcudnn_") && strings.HasSuffix(f, ".so."+major) && late == (stem == "libcudnn_graph") {
			parts = append(parts, f)
		}
	}
	return parts
}

// Follow follows what importing torch loads, in its order: torch/__init__.py opens
// libtorch_global_deps.so, then imports _C. Then what was compiled beside it.
func Follow(h *sysroot.Host, f *machine.EnvFiles, torch string, e python.Env, read *sync.WaitGroup) {
	v := linkView(h, e.Python.Path)
	own := wheelLibraries(h, e.Sites)
	torchs := &linker{View: v, own: own, torch: torch}
	global := torchs.opened(torch+"/lib/libtorch_global_deps.so", machine.LinkFault{By: torch + "/__init__.py", Dist: "torch", Module: true}, true)
	compiled, unbuilt := python.Compiled(h, e)
	roots := []*loader.Object{v.Program}
	roots = append(roots, text.Each(compiled, func(file string) *loader.Object {
		return torchs.opened(file, machine.LinkFault{By: e.Python.Path, Module: true}, false)
	})...)
	f.Unbuilt = unbuilt
	if v.Program != nil && strings.Contains(v.Program.Interp, "ld-musl") && global != nil {
		f.Links = []machine.LinkFault{{By: torch, Module: true, Library: "libc.so.6", Path: text.Printable(v.Program.Path),
			Why: "it is a Python for musl, and torch's libraries are for glibc"}}
		return
	}
	c := torchs.module(h, torch, e.Python)
	f.Loaded = torchs.loaded(h, e.Sites)
	loadedFrom(h, f.Loaded)
	if c != nil && v.Loaded("libc.so.6") != nil { // else a tree that holds no library of a system's, or another C library
		torchs.missing(h, e)
		torchs.versions("", v.All)
		torchs.foreign(f.Loaded, append(roots, global, c)...)
		f.ForCUDA = torchs.extensions(h, e)
		read.Wait()
		torchs.replaced(h, f.Dists, c)
	}
	if f.Links = torchs.faults; v.Blind {
		f.Links, f.Notes = nil, append(f.Notes, machine.LibrariesUnread)
	} else if h.Root == "" && len(f.Links) == 0 && (h.Exists(torch+"/lib/libtorch_cpu.so") || slices.ContainsFunc(h.Names(torch), compiledModule)) {
		// of a tree that stands for a machine a part may be all there is; what torch's list of files names and is not there is told by that
		f.Unseen = append(f.Unseen, torchs.unseen(text.Printable(e.Python.Path), global, c)...)
	}
	for i := range f.Links {
		if l := &f.Links[i]; l.Entry != "" {
			l.Origins = entryFrom(h, l.Via, l.Entry)
		}
	}
}

// A linker binds what has to be bound.
type linker struct {
	*loader.View
	own    map[string]string // the libraries of the wheels, by name
	torch  string            // its directory
	faults []machine.LinkFault
}

// loaded are those of the libraries that torch is loaded with and that its packages bring, or the driver.
func (l *linker) loaded(h *sysroot.Host, sites []string) (out []machine.LoadedLibrary) {
	for _, o := range l.All {
		if o.Via == loader.ByLibraryPath { // which may name what is taken without it
			if plain := l.Plainly(o.Name, o.By); plain != nil && plain.Path == o.Path {
				o.Via, o.Entry = plain.Via, ""
			}
		}
		if o.Via == "" || !wheelLibrary().MatchString(o.Name) {
			continue
		}
		found := machine.LoadedLibrary{
			Name: text.Printable(o.Name), By: text.Printable(path.Base(o.By.Path)), Path: text.Printable(o.Path), Via: o.Via, Size: o.Size,
			Version: versionOfFile(o.Path), Entry: text.Printable(o.Entry), Dir: text.Printable(o.Dir),
		}
		if file := l.own[o.Name]; file != "" && !within(h, o.Path, sites) && h.Resolved(file) != o.Path {
			found.Wheel = text.Printable(file)
		}
		out = append(out, found)
	}
	return out
}

// unseen are the links of the chain that the walk did not come by, where it met no fault.
func (l *linker) unseen(python string, global, module *loader.Object) (out []string) {
	for what, seen := range map[string]bool{
		python + " as a program":                 l.Program != nil,
		l.torch + "/lib/libtorch_global_deps.so": global != nil,
		l.torch + "/_C, torch's own module":      module != nil,
		"the C library":                          l.Loaded("libc.so.6") != nil,
		fmt.Sprintf("what is loaded beyond the first %d libraries", len(l.All)): !l.Full(),
	} {
		out = append(out, say.All(say.If(!seen, text.Printable(what)))...)
	}
	slices.Sort(out)
	return out
}

func (l *linker) add(f machine.LinkFault) {
	for _, s := range []*string{&f.By, &f.Library, &f.Path, &f.Entry, &f.Symbol, &f.Version} {
		*s = text.Printable(*s)
	}
	if len(l.faults) < 32 {
		l.faults = append(l.faults, f)
	}
}

// compiledModule reports whether a file of torch's folder is its own module _C, for some Python.
func compiledModule(name string) bool {
	return strings.HasPrefix(name, "_C.") && strings.HasSuffix(name, ".so")
}

// module opens torch's own module _C; nil: none that is there can be loaded.
func (l *linker) module(h *sysroot.Host, torch string, in machine.Python) *loader.Object {
	tag := python.Tag(in)
	var bad []machine.LinkFault
	for _, name := range h.Names(torch) {
		if !compiledModule(name) {
			continue
		}
		file := torch + "/" + name
		why := l.Unfit(file)
		if m := python.CompiledTag().FindStringSubmatch(name); m != nil && m[1] != tag && in.Version != "" {
			why = "it is for another Python, " + m[1] + ", and this is " + tag
		}
		if why == "" {
			return l.Open(file, false)
		}
		bad = append(bad, machine.LinkFault{By: torch + "/__init__.py", Library: "torch._C", Path: file, Why: why, Dist: "torch", Module: true})
	}
	if len(bad) > 0 {
		l.add(bad[0])
	}
	return nil
}

// missing are the libraries that the loader does not find. torch/__init__.py opens those of
// its packages itself, by their paths.
func (l *linker) missing(h *sysroot.Host, e python.Env) {
	for i := 0; i < len(l.Missing); i++ { // what is opened misses others
		m := l.Missing[i]
		own := l.own[m.Name]
		if own != "" && !strings.HasPrefix(own, l.torch+"/") && l.Open(own, true) != nil {
			continue
		}
		f := machine.LinkFault{By: m.By.Path, Library: m.Name, Opened: m.Opened, Module: true, Path: m.Path, Why: m.Why, Via: m.Via, Entry: m.Entry}
		if to := h.Target(m.Path); to != "" && !h.Exists(m.Path) {
			f.Why += ", " + text.Printable(to)
		}
		if own != "" {
			if f.Path, f.Why = own, l.Unfit(own); f.Why == "" {
				f.Why = path.Base(m.By.Path) + " does not look for it there: its search path (RPATH) was taken away"
			}
		}
		if f.Why != "" {
			f.Dist, f.Conda = l.owner(h, f.Path, e), python.CondaOwner(h, f.Path, e)
		}
		l.add(f)
	}
}

// owner is the distribution that brought a file; "" none did.
func (l *linker) owner(h *sysroot.Host, file string, e python.Env) string {
	for _, d := range e.Dists {
		if name, ok := strings.CutPrefix(file, d.Path+"/"); ok && slices.ContainsFunc(machine.ReadRecord(h.Bytes(d.Info+"/RECORD", sysroot.MaxFile)),
			func(r machine.RecordFile) bool { return r.Path == name }) {
			return d.Name
		}
	}
	return ""
}

// versions are the sets of symbols that a library which is taken does not have, and what it lacks of one that has them.
func (l *linker) versions(dist string, of []*loader.Object) {
	for _, x := range l.Versions(of) {
		f := machine.LinkFault{By: x.By.Path, Dist: dist, Library: x.Library.Name, Path: x.Library.Path, Via: x.Library.Via, Entry: x.Library.Entry, Version: x.Version, Symbol: x.Symbol, Module: true}
		if f.Symbol != "" {
			f.Dist = "" // it is not who asks that is at fault
		}
		l.add(f)
	}
}

// opened opens a file of which the import of torch asks by its path: one that is there and cannot be loaded is a fault.
func (l *linker) opened(file string, f machine.LinkFault, global bool) *loader.Object {
	if o := l.Open(file, global); o != nil {
		return o
	}
	if f.Library, f.Path, f.Why = path.Base(file), file, l.Unfit(file); f.Why != "" {
		l.add(f)
	}
	return nil
}

// foreign binds torch's libraries where a variable, or who else asks first, puts another
// library in the place of the environment's own or the system's: what that one has and no
// library that is loaded, is missing.
func (l *linker) foreign(loaded []machine.LoadedLibrary, opened ...*loader.Object) {
	for _, x := range l.All {
		var own *loader.Object
		if i := slices.IndexFunc(loaded, func(m machine.LoadedLibrary) bool { return m.Name == x.Name && m.Wheel != "" }); i >= 0 {
			own = l.Read(loaded[i].Wheel)
		} else if x.Entry != "" {
			own = l.Plainly(x.Name, x.By)
		}
		if own == nil {
			continue
		}
		for _, o := range l.All {
			if slices.Contains(o.Needed, x.Name) {
				l.lacks(x, o, own, opened)
			}
		}
	}
}

// replaced binds torch's libraries where the file of one that they are loaded with is not
// the one that its package brought.
func (l *linker) replaced(h *sysroot.Host, dists []machine.DistFiles, c *loader.Object) {
	tree := l.Tree(c)
	for _, d := range dists {
		for _, o := range l.torchs(h, tree, d.Name == "torch" && d.Installer == "conda") { // bound to what other packages bring
			for _, b := range l.Bind(o, tree, nil) {
				l.add(machine.LinkFault{By: o.Path, Library: o.Name, Path: o.Path, Why: "no library that it is loaded with has " + b.Symbol, Symbol: b.Symbol, Dist: d.Name, Module: true})
				break
			}
		}
		for _, file := range d.Resized {
			at := h.Resolved(file)
			i := slices.IndexFunc(tree, func(o *loader.Object) bool { return o.Path == at })
			for _, o := range l.torchs(h, tree, i >= 0) {
				for _, b := range l.Bind(o, tree, nil) {
					l.add(machine.LinkFault{By: o.Path, Library: tree[i].Name, Path: at, Why: "it is not the file that " + d.Name + " brought, and lacks " + b.Symbol, Symbol: b.Symbol, Dist: d.Name, Module: true})
					break
				}
			}
		}
	}
}

// torchs are torch's own libraries of a tree, where they are asked for.
func (l *linker) torchs(h *sysroot.Host, tree []*loader.Object, asked bool) []*loader.Object {
	return xslices.Filter(tree, func(o *loader.Object) bool { return asked && strings.HasPrefix(o.Path, h.Resolved(l.torch)+"/") })
}

// lacks binds one that needs a library in whose place another is taken.
func (l *linker) lacks(taken, by, own *loader.Object, opened []*loader.Object) {
	i := slices.IndexFunc(opened, func(root *loader.Object) bool { return root != nil && slices.Contains(l.Tree(root), by) })
	if i < 0 {
		return
	}
	for _, b := range l.Bind(by, l.Tree(opened[i]), own.Defines) {
		l.add(machine.LinkFault{By: by.Path, Library: taken.Name, Path: taken.Path, Via: taken.Via, Entry: taken.Entry, Symbol: b.Symbol, Module: true})
		return
	}
}

// torchSymbol matches what only torch's libraries can have: names in its namespaces.
var torchSymbol = lazy.Regexp(`^_Z\w*?(3c10|2at|5torch|6caffe2)|^aoti_torch_`)

// cudaOfFile finds for which CUDA a library is, by its name: bitsandbytes' are so.
var cudaOfFile = lazy.Regexp(`_cuda(\d\d)(\d)(?:_\w+)?\.so$`)

// extensions binds the machine code of other packages that asks for torch's libraries, or for
// those of CUDA beside a torch that brings some.
func (l *linker) extensions(h *sysroot.Host, e python.Env) (bring []machine.ForCUDA) {
	needed, companions := python.Needs(e.Dists, "torch"), python.Needs(e.Dists, "numpy", "torchvision", "torchaudio")
	for _, d := range e.Dists {
		if python.TorchSet().MatchString(d.Name) && !strings.HasPrefix(d.Name, "torch") || d.Name == "torch" || needed[d.Name] ||
			strings.Contains(string(h.Bytes(d.Info+"/WHEEL", 4096)), "Root-Is-Purelib: true") { // no machine code
			continue
		}
		var versions []string
		for _, file := range machine.ReadRecord(h.Bytes(d.Info+"/RECORD", sysroot.MaxFile)) {
			if m := cudaOfFile().FindStringSubmatch(file.Path); m != nil {
				versions = xslices.Add(versions, m[1]+"."+m[2])
			} else if IsELF(file.Path) && strings.HasSuffix(file.Path, ".so") {
				l.extension(h, d, path.Join(d.Path, file.Path), companions[d.Name])
			}
		}
		if len(versions) > 0 {
			bring = append(bring, machine.ForCUDA{Dist: d.Name, Versions: versions})
		}
	}
	return bring
}

// extension binds one file of a package; always: also where it has nothing to do with torch.
func (l *linker) extension(h *sysroot.Host, d python.Dist, file string, always bool) {
	o, backend := l.Read(file), python.Backend(h, d.Info) != ""
	cuda := slices.ContainsFunc(l.All, func(x *loader.Object) bool { return strings.HasPrefix(x.Name, "libcudart.so") })
	asks := func(n string) bool {
		return strings.HasPrefix(n, "libtorch") || strings.HasPrefix(n, "libc10") || cuda && brought().MatchString(n)
	}
	if o == nil || !always && !slices.ContainsFunc(o.Needed, asks) && !slices.ContainsFunc(d.Needs, func(line string) bool { return python.RequiredName(line) == "torch" }) {
		return
	}
	dist := d.Name
	before, loaded := len(l.Missing), len(l.All)
	module := strings.Contains(path.Base(file), ".cpython-") || strings.Contains(path.Base(file), ".abi3.") || strings.HasPrefix(path.Base(file), "_C.")
	if o = l.opened(file, machine.LinkFault{By: file, Dist: dist, Module: module}, false); o == nil {
		return
	}
	for _, m := range l.Missing[before:] {
		if (backend && module || brought().MatchString(m.Name)) && !m.Opened && l.own[m.Name] == "" {
			l.add(machine.LinkFault{By: file, Dist: dist, Module: module, Backend: backend, Library: m.Name})
			return
		}
	}
	l.versions(dist, l.All[loaded:])
	for _, b := range l.Bind(o, l.All, torchSymbol().MatchString) {
		l.add(machine.LinkFault{By: file, Dist: dist, Module: module, Symbol: b.Symbol})
		return
	}
}

var fileVersion = lazy.Regexp(`\.so\.(\d+(?:\.\d+)+)$`)

// versionOfFile is the version in the name of a library: libcudnn.so.9.10.2.
func versionOfFile(file string) string { return fileVersion.Group(path.Base(file)) }

// versionOf is the version of a library by its name, else that of the package of
// NVIDIA's that brought it: …/nvidia/cudnn/lib/… is of nvidia_cudnn_cu12 beside it.
func versionOf(h *sysroot.Host, file string) string {
	if v := versionOfFile(file); v != "" {
		return v
	}
	i := strings.LastIndex(file, "/nvidia/")
	if i < 0 {
		return ""
	}
	site := file[:i]
	part, rest, _ := strings.Cut(file[i+len("/nvidia/"):], "/")
	if !strings.HasPrefix(rest, "lib/") {
		return ""
	}
	for _, name := range h.Names(site) {
		dist, ok := strings.CutPrefix(name, "nvidia_"+part)
		dist, info := strings.CutSuffix(dist, ".dist-info")
		label, v, cut := strings.Cut(dist, "-")
		if ok && info && cut && (label == "" || strings.HasPrefix(label, "_cu")) && fileVersion().MatchString(".so."+v) {
			return v
		}
	}
	return ""
}
