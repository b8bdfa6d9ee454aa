package probe

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/version"
)

// maxNamed is how many files of a kind are named; the rest are counted.
const maxNamed = 8

// EnvFiles reads the files of the environment that commands would change, or of
// the first interpreter where there is none. It starts nothing. It returns nil
// where there is no Python.
func EnvFiles(o Options) *machine.EnvFiles {
	h := newHost(o)
	var e Env
	if active := h.activeEnv(o); active != "" {
		e = h.readEnv(active)
	} else if dir := unmade(h, o); dir != "" {
		return &machine.EnvFiles{Dir: dir, Sites: h.sitePackages(dir), Python: machine.PythonUnmade}
	} else if found := h.pythons(o).pythons; len(found) > 0 {
		e = h.readInterpreter(found[0])
	} else {
		return nil
	}
	venv := h.pyvenv(e.Dir) != nil
	f := &machine.EnvFiles{Dir: e.Dir, Sites: e.Sites, Starts: e.Starts}
	for _, r := range e.Conda {
		if slices.Contains([]string{"pytorch", "pytorch-cpu", "pytorch-gpu", "libtorch", "cpuonly"}, r.Name) {
			f.Conda = append(f.Conda, r.Name+" "+r.Version+" "+r.Build)
		}
	}
	f.Imports = h.imports(o, e, venv)
	for _, x := range e.Gone {
		f.Gone = append(f.Gone, machine.ImportPlace{Path: text.Printable(x.dir), Origins: []machine.Origin{x.at}})
	}
	f.Variables, f.Shadows, f.Clashes = h.variables(e.Sites), h.shadows(o.Dir, e), clashes(h, e.Dists)
	f.Elsewhere = startedHere(h, o.Dir, func(name string) bool { return name == "CUDA_VISIBLE_DEVICES" })
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH", "TRITON_LIBCUDA_PATH"} {
		if at := h.env[name]; at != "" && h.abs(at) && !h.exists(at) {
			f.Notes = append(f.Notes, name+" is not there")
		}
	}
	if cfg := h.pyvenv(e.Dir); cfg != nil {
		f.Base, f.Python = cfg.home, e.fault(h, cfg.home)
	}
	if line, _, _ := strings.Cut(h.text(e.Dir+"/bin/pip"), "\n"); strings.HasPrefix(line, "#!/") && !strings.HasPrefix(line, "#!/bin/") && venv {
		if program := strings.TrimSpace(strings.TrimPrefix(line, "#!")); h.resolvedDir(path.Dir(program)) != h.resolvedDir(e.Dir+"/bin") {
			f.Pip = text.Printable(program)
		}
	}
	sites := slices.Clone(e.Sites)
	for _, i := range f.Imports {
		if site := siteOf(i.Path); i.Place != machine.InWorkingDir && !slices.Contains(sites, site) {
			sites = append(sites, site)
		}
	}
	var wait sync.WaitGroup
	defer wait.Wait()
	wait.Go(func() { f.Dists = h.distFiles(sites, e) })
	_, left := h.infosIn(e.Sites)
	left = slices.DeleteFunc(left, func(dir string) bool { return !h.isDir(dir) })
	f.Leftovers = text.Each(left[:min(len(left), maxNamed)], text.Printable)
	if h.os != "linux" || f.Python == machine.PythonCopied {
		return f // the rest is about ELF files, and what that one would load
	}
	for _, i := range f.Imports {
		if i.Place == machine.InEnvironment {
			torch := path.Dir(i.Path)
			h.links(f, torch, e, &wait)
			f.Options = h.allocOptions(torch)
			if i := slices.IndexFunc(e.Dists, func(d Dist) bool { return d.Name == "torch" && d.Info == "" }); i >= 0 {
				f.Bare = e.Dists[i].Version
			}
			break
		}
	}
	return f
}

// fault is what is wrong with the interpreter of a virtual environment; "" nothing.
func (e Env) fault(h *host, home string) string {
	program := h.envPython(e.Dir)
	_, err := os.Stat(h.real(program))
	minor := version.Minor(e.Python.Version)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return machine.PythonClosed
	case err != nil && h.os != "windows" && h.exists(e.Dir+"/Scripts/python.exe"):
		return machine.PythonAlien
	case err != nil && (h.target(program) != "" || h.target(path.Dir(program)+"/python3") != ""):
		return machine.PythonGone
	case err == nil && slices.Contains([]string{"linux x86_64 aarch64", "linux aarch64 x86_64"}, h.os+" "+h.arch()+" "+elfArch(h.bytes(program, 64))):
		return machine.PythonCopied
	case h.os != "linux" || err != nil || minor == "" || home == "":
	case len(e.Sites) > 0 && !slices.ContainsFunc(e.Sites, func(s string) bool { return strings.Contains(s, "/python"+minor) }):
		return machine.PythonOther
	case !hasLibrary(h, []string{path.Dir(path.Dir(h.resolved(program))), path.Dir(h.resolvedDir(home)), path.Dir(home)}, minor):
		return machine.PythonBare
	}
	return ""
}

// unmade is the environment that commands would change, where it has packages and Python does
// not take it for one; "" no such.
func unmade(h *host, o Options) string {
	for _, dir := range meant(h, o) {
		if h.exists(h.envPython(dir)) && len(h.sitePackages(dir)) > 0 {
			return dir
		}
	}
	return ""
}

// hasLibrary reports whether the library of a Python is below one of some prefixes, by the
// file that Python itself looks for (Modules/getpath.py, STDLIB_LANDMARKS).
func hasLibrary(h *host, prefixes []string, minor string) bool {
	for _, prefix := range prefixes {
		for _, lib := range []string{"/lib/python" + minor, "/lib64/python" + minor, "/lib/python" + minor + "t"} {
			if h.exists(prefix+lib+"/os.py") || h.exists(prefix+lib+"/os.pyc") {
				return true
			}
		}
		if h.exists(prefix + "/lib/python" + strings.ReplaceAll(minor, ".", "") + ".zip") {
			return true
		}
	}
	return false
}

// siteOf is the directory that holds the package or module at a path.
func siteOf(file string) string {
	if path.Base(file) == "__init__.py" {
		return path.Dir(path.Dir(file))
	}
	return path.Dir(file)
}

// imports lists what `import torch` could take, in the order of sys.path: the
// working directory, PYTHONPATH, what is put first when Python starts, the user's site
// (not in a virtual environment, which has its own packages before it: site.py), the
// environment.
func (h *host) imports(o Options, e Env, venv bool) []machine.ImportPlace {
	var out []machine.ImportPlace
	add := func(dir, place string) bool {
		dir = path.Clean(dir)
		if !path.IsAbs(dir) || place != machine.InEnvironment && slices.Contains(e.Sites, dir) && place != machine.InUserSite {
			return false
		}
		file := moduleIn(h.real, dir, "torch")
		if file == "" || slices.ContainsFunc(out, func(i machine.ImportPlace) bool { return i.Path == file }) {
			return false
		}
		out = append(out, machine.ImportPlace{Path: text.Printable(file), Place: place})
		return true
	}
	add(o.Dir, machine.InWorkingDir)
	for dir := range strings.SplitSeq(h.env["PYTHONPATH"], ":") {
		if add(dir, machine.InPythonPath) {
			out[len(out)-1].Origins = (&origins{h: h}).of("PYTHONPATH", dir)
		}
	}
	for _, x := range e.First {
		if add(x.dir, machine.InStartFile) {
			out[len(out)-1].Origins = []machine.Origin{x.at}
		}
	}
	for _, site := range h.userSites(e.minor()) {
		if !venv {
			add(site, machine.InUserSite)
		}
	}
	for _, site := range e.Sites {
		add(site, machine.InEnvironment)
	}
	return out
}

// moduleIn is what Python imports under a name from a directory of its search path, or from
// a zip archive there; "" nothing. A package wins; a directory without __init__.py loses to
// any.
func moduleIn(real func(string) string, dir, name string) string {
	files := []string{name + "/__init__.py", name + ".py"}
	if archive := strings.ToLower(path.Ext(dir)); archive == ".zip" || archive == ".egg" {
		z, err := zip.OpenReader(real(dir))
		if err != nil {
			return ""
		}
		defer z.Close()
		for _, f := range z.File {
			if slices.Contains(files, f.Name) {
				return dir + "/" + f.Name
			}
		}
		return ""
	}
	for _, f := range files {
		if _, err := os.Stat(real(dir + "/" + f)); err == nil {
			return dir + "/" + f
		}
	}
	return ""
}

// minor is the minor version of its Python, by its own directory where the
// interpreter does not say.
func (e Env) minor() string {
	for _, site := range e.Sites {
		if m := pythonMinor().FindStringSubmatch(path.Base(path.Dir(site))); m != nil {
			return m[1]
		}
	}
	return version.Minor(e.Python.Version)
}

// torchSet are the distributions that torch and its companions consist of.
var torchSet = lazy.Regexp(`^(torch|torchvision|torchaudio|triton|pytorch-triton|nvidia-.*|cuda-toolkit)$`)

// distFiles reads every copy of the distributions; the files of those that torch imports
// are compared with the disk.
func (h *host) distFiles(sites []string, e Env) []machine.DistFiles {
	infos, _ := h.infosIn(sites, ".dist-info")
	read := map[string]Dist{}
	for _, d := range e.Dists {
		read[d.Info] = d
	}
	imported, abi := needs(e.Dists, "torch"), "cp"+strings.ReplaceAll(version.Minor(e.Python.Version), ".", "")
	return each(infos, func(info string) machine.DistFiles {
		d, ok := read[info]
		if !ok {
			d = h.dist(info)
		}
		f := machine.DistFiles{Name: d.Name, Version: d.Listed, Info: text.Printable(info), Requires: d.Needs}
		f.Installer = h.installer(info)
		f.Gone = movedSource(h, info)
		if d.Name == "torch" {
			f.Module = d.Module
		}
		wheel := h.bytes(info+"/WHEEL", 4096)
		if m := wheelABI().FindSubmatch(wheel); m != nil && strings.TrimSuffix(string(m[1]), "t") != abi && abi != "cp" {
			f.ABI = string(m[1])
		}
		if platform := foreignPlatform(wheel, h.os, runtime.GOARCH); platform != "" && h.root == "" {
			f.ABI = platform
		}
		if torchSet().MatchString(d.Name) || imported[d.Name] || d.Name == "numpy" {
			h.record(&f, info)
		}
		return f
	})
}

// wheelABI is the first tag of a wheel whose machine code is for one Python alone.
var wheelABI = lazy.Regexp(`(?m)^Tag: cp3\d+-(cp3\d+t?)-`)

// wheelPlatform is what a tag of a wheel says of systems: "manylinux_2_28_x86_64".
var wheelPlatform = lazy.Regexp(`(?m)^Tag: [^-\s]+-[^-\s]+-(\S+)$`)

// foreignPlatform is the platform of a wheel that is for another system or processor than
// this one; "" it is for this one, or for any.
func foreignPlatform(wheel []byte, os, arch string) string {
	last := ""
	for _, m := range wheelPlatform().FindAllSubmatch(wheel, -1) {
		last = string(m[1])
		ours := map[string]string{"linux": "linux", "macos": "macosx_", "darwin": "macosx_", "windows": "win"}[os]
		processor := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
		if last == "any" || ours == "" || processor == "" || strings.Contains(last, ours) && (os != "linux" || strings.HasSuffix(last, processor)) {
			return ""
		}
	}
	return last
}

// movedSource is where the sources of a distribution were that is installed in place of
// them (PEP 610), if they are not there any more; "" all is well.
func movedSource(h *host, info string) string {
	var u directURL
	data := h.bytes(info+"/direct_url.json", 64<<10)
	if data == nil || json.Unmarshal(data, &u) != nil || u.Dir == nil || !u.Dir.Editable {
		return ""
	}
	if dir := localPath(u.URL); dir != "" && !h.exists(path.Join(dir, u.Subdirectory)) {
		return text.Printable(path.Join(dir, u.Subdirectory))
	}
	return ""
}

// record compares RECORD with the disk: every file by existence, libraries by
// size too; nothing is hashed. What conda installs has other sizes than the wheel
// that it was made of, so sizes count for pip and uv alone.
func (h *host) record(d *machine.DistFiles, info string) {
	byPip := d.Installer == "pip" || d.Installer == "uv"
	data := h.bytes(info+"/RECORD", maxFile)
	if len(data) == 0 {
		if byPip {
			d.Record = "missing or empty"
		}
		return
	}
	site, own := path.Dir(info), path.Base(info)+"/RECORD"
	var itself bool
	dirs := map[string]map[string]bool{} // the names in each directory
	for _, f := range machine.ReadRecord(data) {
		switch {
		case f.Path == own:
			itself = true
			continue
		case f.Path == "", strings.HasPrefix(f.Path, "../"), path.IsAbs(f.Path), strings.HasSuffix(f.Path, ".pyc"):
			continue // programs are rewritten; byte code comes and goes
		}
		d.Files++
		if isLibrary(f.Path) {
			d.Libraries = append(d.Libraries, f.Path)
		}
		h.compare(d, dirs, site+"/"+path.Clean(f.Path), f.Size, byPip)
	}
	if !itself && byPip { // it lists itself, by its specification
		d.Record = "cut off"
	}
	slices.SortStableFunc(d.Missing, func(a, b string) int { return boolInt(isLibrary(b)) - boolInt(isLibrary(a)) })
	d.Missing = d.Missing[:min(len(d.Missing), maxNamed)]
	for file := append(d.Missing, site)[0]; file != site && d.Link == ""; file = path.Dir(file) {
		if to := h.target(file); to != "" && !h.exists(file) {
			d.Link = text.Printable(to)
		}
	}
}

// isLibrary reports whether a file is machine code.
func isLibrary(file string) bool {
	return strings.Contains(path.Base(file), ".so") || strings.HasSuffix(file, ".dll") || strings.HasSuffix(file, ".pyd") || strings.HasSuffix(file, ".dylib")
}

func (h *host) compare(d *machine.DistFiles, dirs map[string]map[string]bool, file string, size int64, byPip bool) {
	dir, name := path.Split(file)
	names, read := dirs[dir]
	if !read { // one directory costs less than a question for each of its files
		names = map[string]bool{}
		for _, name := range h.unsorted(dir) {
			names[name] = true
		}
		dirs[dir] = names
	}
	switch {
	case !names[name]:
		d.Absent++
		if len(d.Missing) < 100 || isLibrary(file) && len(d.Missing) < 1000 {
			d.Missing = append(d.Missing, text.Printable(file))
		}
	case byPip && size > 0 && isLibrary(file) && len(d.Resized) < maxNamed:
		if i, err := os.Stat(h.real(file)); err == nil && size != i.Size() {
			d.Resized = append(d.Resized, text.Printable(file))
		}
	}
}

// within reports whether a file lies below one of some directories.
func (h *host) within(file string, dirs []string) bool {
	for _, dir := range dirs {
		if real := h.resolvedDir(dir); strings.HasPrefix(file, dir+"/") || h.root == "" && strings.HasPrefix(file, real+"/") {
			return true
		}
	}
	return false
}

// wheelLibraries are the libraries that NVIDIA's packages brought, by name.
func (h *host) wheelLibraries(sites []string) map[string]string {
	out := map[string]string{}
	for _, site := range sites {
		for _, part := range h.names(site + "/nvidia") {
			dir := site + "/nvidia/" + part + "/lib"
			for _, name := range h.names(dir) {
				if wheelLibrary().MatchString(name) && out[name] == "" {
					out[name] = dir + "/" + name
				}
			}
		}
		for _, name := range h.names(site + "/torch/lib") {
			if wheelLibrary().MatchString(name) && out[name] == "" {
				out[name] = site + "/torch/lib/" + name
			}
		}
	}
	return out
}
