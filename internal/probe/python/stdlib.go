package python

import (
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/pylex"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// library is the directory of the modules of a Python below a prefix, by the file that Python
// itself looks for (Modules/getpath.py, STDLIB_LANDMARKS); "" it is not there.
func library(h *sysroot.Host, prefix, minor string) string {
	dirs := []string{prefix + "/lib/python" + minor, prefix + "/lib64/python" + minor, prefix + "/lib/python" + minor + "t"}
	if v := h.Env["PYTHONPLATLIBDIR"]; v != "" {
		dirs = []string{path.Join(prefix, v, "python"+minor), path.Join(prefix, v, "python"+minor+"t")}
	}
	dir, _ := xslices.Find(dirs,
		func(dir string) bool { return h.Exists(dir+"/os.py") || h.Exists(dir+"/os.pyc") })
	return dir
}

// library is where its Python has the modules that it came with; "" they are not found.
func (e Env) library(h *sysroot.Host) string {
	return library(h, path.Dir(path.Dir(h.Resolved(e.Python.Path))), version.Minor(e.Python.Version))
}

// HasModule reports whether a module of that name is in one of some directories of packages.
func HasModule(h *sysroot.Host, sites []string, name string) bool {
	return xslices.At(sites, func(site string) bool {
		return h.Exists(site+"/"+name) || h.Exists(site+"/"+name+".py") || moduleFile(h, site, name) != ""
	}) != nil
}

var backend = lazy.Regexp(`(?m)^\[torch\.backends\]\s*^[^=\[\n]+=\s*(\w+)`)

// Backend is the module that a distribution has torch load when it is imported
// (torch/__init__.py, _import_device_backends; since 2.5); "" it has none.
func Backend(h *sysroot.Host, info string) string {
	return say.If(h.Env["TORCH_DEVICE_BACKEND_AUTOLOAD"] != "0", backend.Group(string(h.Bytes(info+"/entry_points.txt", 1<<16))))
}

// startImport is a line of a .pth file that Python runs, and the module that it begins with.
var startImport = lazy.Regexp(`(?m)^import[ \t]+(\w+)`)

// unfound are the lines of .pth files that import what is in no directory of Python's path:
// Python says so at each start, leaves the rest of the file out and goes on. None is found where the modules of the
// library cannot be listed.
func unfound(h *sysroot.Host, e Env, files []startFile) (out []machine.StartFault) {
	dir := dynload(h, e)
	if dir == "" {
		return nil
	}
	places := slices.Concat([]string{dir, path.Dir(dir)}, e.Sites, text.Each(e.First, func(x pathEntry) string { return x.Dir }), pythonPath(h))
	for _, f := range files {
		for _, m := range startImport().FindAllSubmatchIndex(f.code, 20) {
			name := string(f.code[m[2]:m[3]])
			if strings.HasSuffix(f.name, ".pth") && !slices.Contains([]string{"sys", "builtins", "time"}, name) && !HasModule(h, places, name) {
				out = append(out, machine.StartFault{At: f.at(m[0]), Is: machine.StartUnfound, How: "import " + text.Printable(name)})
			}
		}
	}
	return out
}

// dynload is the directory of the modules of Python's library that are machine code; "" where
// they are a part of the program, as in builds that uv brings.
func dynload(h *sysroot.Host, e Env) string {
	dir := e.library(h) + "/lib-dynload"
	return say.If(moduleFile(h, dir, "_json") != "", dir)
}

// Library reads the files of Python's library that torch's imports need. lost: they are not there, empty or cut off, a module that is in
// none of its forms, or one whose byte code was left; changed: they were written to after that Python was installed.
func Library(h *sysroot.Host, e Env) (lost, changed []string) {
	library := e.library(h)
	landmark, err := os.Stat(h.Real(library + "/os.py"))
	if err != nil {
		return nil, nil
	}
	for _, file := range filesOfTorch(h, library, e) {
		i, err := os.Stat(h.Real(file))
		young := err == nil && i.ModTime().After(landmark.ModTime().Add(time.Hour))
		switch {
		case err == nil && (i.Size() > 0 && !young && i.Size()%4096 > 0 || i.Size() == 0 && path.Base(file) == "__init__.py"):
		case err != nil || i.Size() == 0 || !pylex.Whole(string(h.Bytes(file, sysroot.MaxFile))):
			lost = append(lost, file)
		case young:
			changed = append(changed, file)
		}
	}
	return lost, changed
}

// filesOfTorch are the sources of Python's library that torch's imports need: those that are there, and those that are missed.
func filesOfTorch(h *sysroot.Host, library string, e Env) (out []string) {
	names := h.Names(library)
	has := func(names []string, name string) bool { _, found := slices.BinarySearch(names, name); return found }
	for _, name := range stdlibOfTorch {
		dir := library + "/" + name
		if has(names, name+".py") || !has(names, name) {
			out = append(out, say.All(say.If(name != "graphlib" || e.minor() != "3.8", dir+".py"))...)
			continue
		}
		for _, file := range h.Names(dir) {
			out = append(out, say.All(say.If(strings.HasSuffix(file, ".py"), dir+"/"+file))...)
		}
		for _, compiled := range h.Names(dir + "/__pycache__") {
			if module, ours := strings.CutSuffix(compiled, "."+e.tag()+".pyc"); ours {
				out = xslices.Add(out, dir+"/"+module+".py")
			}
		}
	}
	return out
}

func moduleFile(h *sysroot.Host, dir, name string) string { return moduleAmong(h.Names(dir), name) }

// moduleAmong is the file of a module that is machine code.
func moduleAmong(names []string, module string) string {
	file, _ := xslices.Find(names, func(n string) bool { return strings.HasPrefix(n, module+".") && strings.HasSuffix(n, ".so") })
	return file
}

// Compiled are the files of the modules of Python's library that torch and torchvision do not import without, and the names of
// those that are built only where a library of the system was there, and that there are none of.
func Compiled(h *sysroot.Host, e Env) (files, unbuilt []string) {
	names := []string{"_ctypes"}
	if xslices.At(e.Dists, func(d Dist) bool { return d.Name == "torchvision" }) != nil {
		names = append(names, "_lzma", "_bz2")
	}
	dir := dynload(h, e)
	if dir == "" {
		return nil, nil
	}
	here := h.Names(dir)
	for _, name := range append(names, compiledOfTorch...) {
		if file := moduleAmong(here, name); file != "" {
			files = append(files, dir+"/"+file)
		} else if slices.Contains(names, name) { // the others may be a part of the program
			unbuilt = append(unbuilt, name)
		}
	}
	return files, unbuilt
}

// compiledOfTorch are other modules that are machine code and that importing torch does not do without: of those that it loads,
// what Python's library imports outside of a try (subprocess, socket, base64, multiprocessing.connection …).
var compiledOfTorch = strings.Fields("_contextvars _multiprocessing _posixsubprocess _random _socket _struct array binascii cmath math select zlib")

// stdlibOfTorch are the modules of Python's library, neither built in nor frozen, that
// importing torch 2.2.2 and 2.15.0 loads beyond what Python loads to start (sys.modules of
// Python 3.11).
var stdlibOfTorch = strings.Fields(`argparse ast asyncio base64 bdb bisect bz2 calendar cmd code codeop collections concurrent
	contextlib contextvars copy copyreg csv ctypes dataclasses datetime difflib dis email enum fnmatch functools gettext glob graphlib
	gzip hashlib heapq hmac http importlib inspect ipaddress json keyword linecache locale logging lzma multiprocessing numbers opcode
	operator pathlib pdb pickle pickletools pkgutil platform pprint queue quopri random re reprlib secrets selectors shutil signal
	socket ssl string struct subprocess sysconfig tarfile tempfile textwrap threading timeit token tokenize traceback types typing
	unittest urllib uuid warnings weakref zipfile`)
