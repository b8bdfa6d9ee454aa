package probe

import (
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/probe/variables"
	"envfix/internal/text"
)

// shadows are files of the project, or of PYTHONPATH, that Python would import in place of
// a module of its library, or of a package, that torch imports.
func shadows(h *sysroot.Host, dir string, e Env) []machine.ImportPlace {
	wanted := map[string]bool{}
	for _, d := range e.Dists {
		wanted[strings.ReplaceAll(d.Name, "-", "_")] = false
	}
	for name := range needs(e.Dists, "torch") {
		wanted[strings.ReplaceAll(name, "-", "_")] = true
	}
	wanted["numpy"], wanted["torch"] = true, false // torch itself is told apart
	for _, name := range stdlibOfTorch {
		wanted[name] = true
	}
	var out []machine.ImportPlace
	from := &variables.Origins{Host: h}
	look := func(dir, place string) {
		if !path.IsAbs(dir) || slices.Contains(e.Sites, path.Clean(dir)) {
			return
		}
		for _, name := range h.Unsorted(dir) {
			stem, module := strings.CutSuffix(name, ".py")
			if !wanted[stem] {
				continue
			}
			file := path.Join(dir, name)
			if !module {
				file += "/__init__.py"
			}
			if !h.Exists(file) || len(out) == sysroot.MaxNamed {
				continue
			}
			p := machine.ImportPlace{Path: text.Printable(file), Place: place}
			if place == machine.InPythonPath {
				p.Origins = from.Of(place, dir)
			}
			beside := dists(h, []string{dir})
			if i := slices.IndexFunc(beside, func(d Dist) bool { return strings.ReplaceAll(d.Name, "-", "_") == stem }); i >= 0 {
				p.Version = beside[i].Version
			}
			if !module {
				p.Tag = builtFor(h, path.Dir(file), "cpython-"+strings.ReplaceAll(e.minor(), ".", ""))
			}
			out = append(out, p)
		}
	}
	look(dir, machine.InWorkingDir)
	for d := range strings.SplitSeq(h.Env["PYTHONPATH"], ":") {
		look(d, machine.InPythonPath)
	}
	return out
}

// builtFor is the tag of the Python that the modules in a package are compiled for, where none
// is for the one that is meant; "" no such.
func builtFor(h *sysroot.Host, dir, tag string) (other string) {
	for _, sub := range append(h.Names(dir), "") {
		for _, name := range h.Names(path.Join(dir, sub)) {
			switch m := compiledTag().FindStringSubmatch(name); {
			case m != nil && m[1] == tag:
				return ""
			case m != nil:
				other = m[1]
			}
		}
	}
	return other
}

var compiledTag = lazy.Regexp(`\.(cpython-3\d+)t?-[^.]*\.so$`)

// stdlibOfTorch are the modules of Python's library, neither built in nor frozen, that
// importing torch 2.2.2 and 2.15.0 loads beyond what Python loads to start (sys.modules of
// Python 3.11).
var stdlibOfTorch = strings.Fields(`argparse ast asyncio base64 bdb bisect bz2 calendar cmd code codeop collections concurrent
	contextlib contextvars copy copyreg csv ctypes dataclasses datetime difflib dis email enum fnmatch functools gettext glob graphlib
	gzip hashlib heapq hmac http importlib inspect ipaddress json keyword linecache locale logging lzma multiprocessing numbers opcode
	operator pathlib pdb pickle pickletools pkgutil platform pprint queue quopri random re reprlib secrets selectors shutil signal
	socket ssl string struct subprocess sysconfig tarfile tempfile textwrap threading timeit token tokenize traceback types typing
	unittest urllib uuid warnings weakref zipfile`)
