package python

import (
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
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

// Lost are the files of Python's library that torch's imports need and that are not there, or empty: a module that is in
// none of its forms, or one whose byte code was left.
func Lost(h *sysroot.Host, e Env) (out []string) {
	library := e.library(h)
	if !h.Exists(library + "/os.py") {
		return nil
	}
	names := h.Names(library)
	has := func(names []string, name string) bool { _, found := slices.BinarySearch(names, name); return found }
	for _, name := range stdlibOfTorch {
		dir := library + "/" + name
		switch {
		case has(names, name+".py") && len(h.Bytes(dir+".py", 1)) == 0:
			out = append(out, dir+".py")
		case has(names, name+".py"), name == "graphlib" && e.minor() == "3.8":
		case !has(names, name):
			out = append(out, dir+".py")
		default:
			here := h.Names(dir)
			for _, compiled := range h.Names(dir + "/__pycache__") {
				if module, ours := strings.CutSuffix(compiled, "."+e.tag()+".pyc"); ours && !has(here, module+".py") {
					out = append(out, dir+"/"+module+".py")
				}
			}
		}
	}
	return out
}

func moduleFile(h *sysroot.Host, dir, name string) string {
	file, _ := xslices.Find(h.Names(dir), func(n string) bool { return strings.HasPrefix(n, name+".") && strings.HasSuffix(n, ".so") })
	return file
}

// Compiled are the modules of Python's library that torch and torchvision do not import
// without, and that are built only where a library of the system was there: their files, and
// the names of those that there are none of.
func Compiled(h *sysroot.Host, e Env) (files, unbuilt []string) {
	names := []string{"_ctypes"}
	if xslices.At(e.Dists, func(d Dist) bool { return d.Name == "torchvision" }) != nil {
		names = append(names, "_lzma", "_bz2")
	}
	dir := dynload(h, e)
	if dir == "" {
		return nil, nil
	}
	for _, name := range append(names, "zlib", "binascii") {
		if file := moduleFile(h, dir, name); file != "" {
			files = append(files, dir+"/"+file)
		} else if name[0] == '_' { // the others may be a part of the program
			unbuilt = append(unbuilt, name)
		}
	}
	return files, unbuilt
}

// stdlibOfTorch are the modules of Python's library, neither built in nor frozen, that
// importing torch 2.2.2 and 2.15.0 loads beyond what Python loads to start (sys.modules of
// Python 3.11).
var stdlibOfTorch = strings.Fields(`argparse ast asyncio base64 bdb bisect bz2 calendar cmd code codeop collections concurrent
	contextlib contextvars copy copyreg csv ctypes dataclasses datetime difflib dis email enum fnmatch functools gettext glob graphlib
	gzip hashlib heapq hmac http importlib inspect ipaddress json keyword linecache locale logging lzma multiprocessing numbers opcode
	operator pathlib pdb pickle pickletools pkgutil platform pprint queue quopri random re reprlib secrets selectors shutil signal
	socket ssl string struct subprocess sysconfig tarfile tempfile textwrap threading timeit token tokenize traceback types typing
	unittest urllib uuid warnings weakref zipfile`)
