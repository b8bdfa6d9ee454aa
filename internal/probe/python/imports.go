package python

import (
	"archive/zip"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/platform"
	"envfix/internal/probe/sysroot"
	"envfix/internal/probe/variables"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// Fault is what is wrong with the interpreter; home is what pyvenv.cfg says of it; "" nothing is wrong.
func (e Env) Fault(h *sysroot.Host, home string) string {
	program := Program(h, e.Dir)
	if _, err := os.Stat(h.Real(program)); err != nil {
		return e.absent(h, program, home, err)
	}
	minor := strings.TrimSuffix(minorOf(h, program, e.Python.Version), "t")
	switch {
	case startsOther().Match(h.Bytes(program, 4096)):
		return machine.PythonScript
	case slices.Contains([]string{"linux x86_64 aarch64", "linux aarch64 x86_64"},
		h.OS+" "+platform.Arch(h)+" "+platform.ELFArch(h.Bytes(program, 64))):
		return machine.PythonCopied
	case h.OS == "linux" && h.Root == "" && !h.IsProgram(program):
		return machine.PythonBarred
	case ReadConfig(h, e.Dir) == nil && h.Exists(e.Dir+"/pyvenv.cfg"):
		return machine.PythonMute
	case h.OS == "linux" && h.Env["PYTHONPLATLIBDIR"] != "" && e.library(h) == "":
		return machine.PythonAstray
	case h.OS != "linux" || minor == "" || home == "":
	case len(e.Sites) > 0 && !slices.ContainsFunc(e.Sites, func(s string) bool { return strings.Contains(s, "/python"+minor) }):
		return machine.PythonOther
	case !slices.ContainsFunc([]string{path.Dir(path.Dir(h.Resolved(program))), path.Dir(h.ResolvedDir(home)), path.Dir(home)}, func(prefix string) bool {
		return library(h, prefix, minor) != "" || h.Exists(prefix+"/lib/python"+strings.ReplaceAll(minor, ".", "")+".zip")
	}):
		return machine.PythonBare
	}
	return ""
}

// startsOther matches a script in the place of an interpreter that starts another one by its own name and place: without a
// word to it of the environment (exec -a, a variable of Python's) that one looks for packages where it lies itself.
var startsOther = lazy.Regexp(`\A#![^\n]*\n(?:[^P\n]*\n)*[ \t]*exec +"?/[^\n" ]*/python[\d.]*"?[ \n]`)

// absent is why there is no interpreter, of which err is told.
func (e Env) absent(h *sysroot.Host, program, home string, err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return machine.PythonClosed
	case h.OS != "windows" && h.Exists(e.Dir+"/Scripts/python.exe"):
		return machine.PythonAlien
	case h.Target(program) != "" || h.Target(path.Dir(program)+"/python3") != "":
		return machine.PythonGone
	case len(e.Conda) > 0 && h.Root == "":
		return machine.PythonNone
	case len(e.Dists) > 0 && h.OS == "linux" && h.Root == "" && home != "": // a root that was copied may lack programs
		return machine.PythonAbsent
	}
	return ""
}

// Unmade is the environment that commands would change, where it has packages and Python does
// not take it for one; "" no such.
func Unmade(h *sysroot.Host, o Choice) string {
	dir, _ := xslices.Find(meant(h, o), func(dir string) bool { return h.Exists(Program(h, dir)) && len(SitePackages(h, dir)) > 0 })
	return dir
}

// A searched is a directory, or an archive, that Python looks for modules in.
type searched struct {
	dir   string
	place string           // see the places of [machine.ImportPlace]
	by    []machine.Origin // what put it there
}

// searchOrder is where Python looks, in the order of sys.path: the working directory, PYTHONPATH,
// what is put first when it starts, the user's site (not in a virtual environment, which has its
// own packages before it: site.py), the environment.
func (e Env) searchOrder(h *sysroot.Host, project string) []searched {
	all := []searched{{workingDir(h, e, project), machine.InWorkingDir, nil}}
	from := &variables.Origins{Host: h}
	for i, dir := range pythonPath(h) {
		if dir != all[0].dir {
			all = append(all, searched{dir, machine.InPythonPath, from.Of("PYTHONPATH", cmp.Or(strings.Split(h.Env["PYTHONPATH"], ":")[i], dir))})
		}
	}
	for _, x := range e.First {
		all = append(all, searched{x.Dir, machine.InStartFile, []machine.Origin{x.At}})
	}
	if ReadConfig(h, e.Dir) == nil {
		for _, dir := range userSites(h, e.minor()) {
			all = append(all, searched{dir, machine.InUserSite, nil})
		}
	}
	for _, dir := range e.Sites {
		all = append(all, searched{dir, machine.InEnvironment, nil})
	}
	for i := range all {
		all[i].dir = path.Clean(all[i].dir)
	}
	return slices.DeleteFunc(all, func(s searched) bool { return !path.IsAbs(s.dir) })
}

// pythonPath are the directories of PYTHONPATH. One that is relative, or empty, leads from where Python is started.
func pythonPath(h *sysroot.Host) []string {
	if h.Env["PYTHONPATH"] == "" {
		return nil
	}
	return text.Each(strings.Split(h.Env["PYTHONPATH"], ":"), func(entry string) string { return fromHere(h, entry) })
}

// fromHere is the directory that a variable of Python's names.
func fromHere(h *sysroot.Host, dir string) string {
	return say.Either(h.Abs(dir), dir, path.Join(h.Project, dir))
}

// Imports lists what `import torch` could take, in the order in which Python looks.
func Imports(h *sysroot.Host, project string, e Env) (out []machine.ImportPlace) {
	for _, s := range e.searchOrder(h, project) {
		if s.place != machine.InEnvironment && s.place != machine.InUserSite && slices.Contains(e.Sites, s.dir) {
			continue
		}
		file := text.Printable(moduleIn(h, s.dir, "torch", e.tag()))
		if file != "" && !slices.ContainsFunc(out, func(i machine.ImportPlace) bool { return i.Path == file }) {
			out = append(out, machine.ImportPlace{Path: file, Place: s.place, Origins: s.by})
		}
	}
	return out
}

// workingDir is the directory that Python puts first on its search path; "" where it is told not to (PYTHONSAFEPATH, since 3.11).
func workingDir(h *sysroot.Host, e Env, dir string) string {
	if h.Env["PYTHONSAFEPATH"] != "" && !slices.Contains([]string{"3.8", "3.9", "3.10"}, e.minor()) {
		return ""
	}
	return dir
}

// moduleIn is what Python imports under a name from a directory of its search path, or from
// a zip archive there; "" nothing. A package wins; a directory without __init__.py loses to
// any.
func moduleIn(h *sysroot.Host, dir, name, tag string) string {
	files := entries(h, dir)
	if slices.Contains(files, name+"/__init__.py") || h.Exists(dir+"/"+name+"/__init__.py") {
		return dir + "/" + name + "/__init__.py"
	}
	modules := xslices.Filter(files, func(n string) bool { return moduleOf(n, tag) == name })
	slices.Sort(modules)
	for _, n := range xslices.First(modules, func(n string) bool { return strings.HasSuffix(n, ".so") }) { // they come before sources
		return dir + "/" + n
	}
	return ""
}

// entries are what lies in a directory, or all files of a zip archive: Python looks into both.
func entries(h *sysroot.Host, dir string) (names []string) {
	if archive := strings.ToLower(path.Ext(dir)); archive != ".zip" && archive != ".egg" || h.IsDir(dir) {
		return h.Unsorted(dir)
	}
	z, err := zip.OpenReader(h.Real(dir))
	if err != nil {
		return nil
	}
	defer z.Close()
	return text.Each(z.File, func(f *zip.File) string { return f.Name })
}

// moduleOf is the module that a file of that name is to a Python whose machine code has tag;
// "" none. Byte code stands for its source only where that is not beside it.
func moduleOf(file, tag string) string {
	stem, ext, _ := strings.Cut(file, ".")
	if slices.Contains([]string{"py", "pyc", "so", "abi3.so"}, ext) || strings.HasPrefix(ext, tag+"-") && strings.HasSuffix(ext, ".so") {
		return stem
	}
	return ""
}

// minor is the minor version of its Python, by its own directory where the
// interpreter does not say.
func (e Env) minor() string {
	for _, site := range e.Sites {
		if minor := pythonMinor.Group(path.Base(path.Dir(site))); minor != "" {
			return minor
		}
	}
	return version.Minor(e.Python.Version)
}

// tag is what modules that are compiled for its Python have in their names.
func (e Env) tag() string {
	return Tag(machine.Python{Version: e.minor(), FreeThreaded: e.Python.FreeThreaded})
}

// shadow is what Python would import by a name in a directory; nil there is nothing.
func (e Env) shadow(h *sysroot.Host, dir, name string) *machine.ImportPlace {
	stem := moduleOf(name, e.tag())
	module := stem != ""
	file := path.Join(dir, name) + say.If(!module, "/__init__.py")
	if h.IsDir(dir) && !h.Exists(file) {
		return nil
	}
	stem = cmp.Or(stem, name)
	own, _ := xslices.Find(dists(h, []string{dir}), func(d Dist) bool { return strings.ReplaceAll(d.Name, "-", "_") == stem })
	p := &machine.ImportPlace{Path: text.Printable(file), Version: own.Version}
	if _, version, egg := strings.Cut(strings.TrimSuffix(path.Base(dir), ".egg"), "-"); egg && strings.HasSuffix(dir, ".egg") {
		p.Version, _, _ = strings.Cut(version, "-py")
	}
	if !module {
		p.Tag = builtFor(h, path.Dir(file), e.tag())
	}
	return p
}

// hideable are the modules that torch imports, of Python's library and, unless that alone is
// meant, of packages.
func (e Env) hideable(library bool) map[string]bool {
	wanted := xslices.Set(stdlibOfTorch, func(name string) string { return name })
	if library {
		return wanted
	}
	for name := range Needs(e.Dists, "torch") {
		wanted[strings.ReplaceAll(name, "-", "_")] = true
	}
	wanted["numpy"], wanted["torch"] = true, false // torch itself is told apart
	return wanted
}

// Shadows are files of the project, or of PYTHONPATH, that Python would import in place of
// a module of its library, or of a package, that torch imports.
func Shadows(h *sysroot.Host, project string, e Env) (out []machine.ImportPlace) {
	for _, s := range e.searchOrder(h, project) {
		own := s.place != machine.InStartFile && slices.Contains(e.Sites, s.dir) // then it is Python's library alone that it comes before
		if own && s.place != machine.InPythonPath {
			continue
		}
		wanted := e.hideable(own)
		for _, name := range entries(h, s.dir) {
			name = strings.TrimSuffix(name, "/__init__.py")
			stem := cmp.Or(moduleOf(name, e.tag()), name)
			if !wanted[stem] || len(out) == sysroot.MaxNamed {
				continue
			}
			if p := e.shadow(h, s.dir, name); p != nil {
				p.Place, p.Origins = s.place, s.by
				out = append(out, *p)
			}
		}
	}
	return out
}

// builtFor is the tag of the Python that the modules in a package are compiled for, where none
// is for the one that is meant; "" no such.
func builtFor(h *sysroot.Host, dir, tag string) (other string) {
	for _, sub := range append(h.Names(dir), "") {
		for _, name := range h.Names(path.Join(dir, sub)) {
			switch m := CompiledTag().FindStringSubmatch(name); {
			case m != nil && m[1] == tag:
				return ""
			case m != nil:
				other = m[1]
			}
		}
	}
	return other
}

// CompiledTag finds the Python that a module is compiled for, by its name.
var CompiledTag = lazy.Regexp(`\.(cpython-3\d+t?)-[^.]*\.so$`)

// Tag is what modules that are compiled for a Python have in their names (PEP 3149, PEP 703).
func Tag(p machine.Python) string {
	return "cpython-" + strings.ReplaceAll(version.Minor(p.Version), ".", "") + say.If(p.FreeThreaded, "t")
}
