// Package python reads interpreters and environments without starting one: which there are,
// which counts, what is installed in it, what an import would take and what runs before it.
// Conda's, pyenv's, uv's and Jupyter's places are known here.
package python

import (
	"cmp"
	"path"
	"runtime"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/platform"
	"envfix/internal/probe/sysroot"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

var (
	pythonProgram = lazy.Regexp(`^python(3(\.\d{1,2}t?)?)?(\.exe)?$`)
	pythonMinor   = lazy.Regexp(`^python(3\.\d{1,2})(t?)$`)
	pythonPatch   = lazy.Regexp(`^3\.\d{1,2}\.\d{1,3}(?:(?:a|b|rc)\d{1,2})?`)
	patchLevel    = lazy.Regexp(`#define\s+PY_VERSION\s+"(3\.[0-9a-z.]+)\+?"`)
	winPython     = lazy.Regexp(`(?i)^Python3(\d{1,2})(-32|-arm64)?$`)
)

// A Found is what was found: interpreters, the active one first, and what is
// installed beside it.
type Found struct {
	Pythons   []machine.Python
	Installed []machine.Package
}

// A Choice says which environment and interpreter count.
type Choice struct {
	Dir    string // the project's absolute directory; "" no project
	Venv   string // its environment, absolute or relative to Dir; "" none
	Named  bool   // the user named Venv: no other environment counts
	Python string // the interpreter that counts where there is no environment; "" the first on PATH
}

// Find finds interpreters without starting one: the active environment's,
// those on PATH, and those of pyenv, uv and conda.
func Find(h *sysroot.Host, o Choice) (s Found) {
	var seen []string
	add := func(file string) {
		if !h.IsProgram(file) {
			return
		}
		key := h.Resolved(file) // the same for two names of one interpreter
		if own := path.Dir(path.Dir(file)); h.Exists(own + "/pyvenv.cfg") {
			key = "venv " + h.Resolved(own) // of its own, though it is a link to another's
		}
		if slices.Contains(seen, key) {
			return
		}
		seen = append(seen, key)
		if p, ok := describe(h, file); ok {
			s.Pythons = append(s.Pythons, p)
		}
	}
	active := Active(h, o)
	if active != "" {
		add(Program(h, active))
		if len(s.Pythons) == 1 {
			s.Pythons[0].Active = true
		}
		add(h.Resolved(Program(h, active))) // the one that it was made from may lie on no PATH
	}
	if o.Python != "" {
		add(o.Python)
	}
	for _, file := range pythonPrograms(h) {
		add(file)
	}
	switch {
	case active != "":
		s.Installed = packages(Read(h, active))
	case len(s.Pythons) > 0:
		s.Installed = packages(ReadInterpreter(h, s.Pythons[0]))
	}
	return s
}

// Active is the environment that commands would change: the project's where
// it exists (as for uv, an activated one elsewhere does not count then), else the
// activated one. Conda activates its base environment in every shell; that is an
// environment too, where there is no other.
func Active(h *sysroot.Host, o Choice) string {
	dirs := meant(h, o)
	if i := slices.IndexFunc(dirs, func(dir string) bool { return IsEnv(h, dir) }); i >= 0 {
		return dirs[i]
	}
	return ""
}

// meant are the directories in which the environment of a command may be.
func meant(h *sysroot.Host, o Choice) []string {
	project := o.Venv
	if project != "" && !h.Abs(project) && o.Dir != "" {
		project = path.Join(o.Dir, project)
	}
	dirs := []string{project, h.Env["VIRTUAL_ENV"], h.Env["CONDA_PREFIX"]}
	if o.Named {
		dirs = dirs[:1]
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" })
}

// IsEnv reports whether a directory is an environment, of venv or of conda.
func IsEnv(h *sysroot.Host, dir string) bool {
	return h.Exists(dir+"/pyvenv.cfg") || h.IsDir(dir+"/conda-meta")
}

// Program is the interpreter of an environment's directory.
func Program(h *sysroot.Host, dir string) string {
	if h.OS == "windows" {
		return say.Either(h.IsDir(dir+"/conda-meta"), dir+"/python.exe", dir+"/Scripts/python.exe")
	}
	for _, name := range []string{"python3", "python"} {
		if h.IsProgram(dir + "/bin/" + name) {
			return dir + "/bin/" + name
		}
	}
	return dir + "/bin/python"
}

// pythonPrograms lists the files that are interpreters by their names.
func pythonPrograms(h *sysroot.Host) (out []string) {
	list := func(dir string) {
		names := xslices.Filter(h.Once(dir), func(n string) bool { return strings.HasPrefix(n, "python") && pythonProgram().MatchString(n) })
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a, b)) })
		out = append(out, text.Each(names, func(n string) string { return dir + "/" + n })...)
	}
	pyenv := PyenvRoot(h)
	for _, dir := range h.PathDirs() {
		if pyenv != "" && dir == pyenv+"/shims" {
			PyenvVersions(h, pyenv, list)
			continue
		}
		list(dir)
	}
	if pyenv != "" {
		PyenvVersions(h, pyenv, list)
	}
	for _, root := range uvRoots(h) {
		for _, name := range h.Names(root) {
			if strings.HasPrefix(name, "cpython-") && h.Link(root+"/"+name) == "" {
				list(root + "/" + name + "/bin")
			}
		}
	}
	bin := say.If(h.OS != "windows", "/bin")
	for _, root := range CondaRoots(h) {
		list(root + bin)
		for _, name := range h.Names(root + "/envs") {
			list(root + "/envs/" + name + bin)
		}
	}
	for _, base := range installedPythons(h) {
		for _, name := range h.Names(base) {
			list(base + "/" + name)
			list(base + "/" + name + "/bin")
		}
	}
	return out
}

// installedPythons are where the installers for Windows and macOS put Pythons.
func installedPythons(h *sysroot.Host) []string {
	switch h.OS {
	case "windows":
		return []string{h.Env["LOCALAPPDATA"] + "/Programs/Python", h.Env["PROGRAMFILES"]}
	case "macos":
		return []string{"/Library/Frameworks/Python.framework/Versions"}
	}
	return nil
}

// rank puts python3 before python3.12 before python.
func rank(name string) int {
	switch strings.TrimSuffix(name, ".exe") {
	case "python3":
		return 0
	case "python":
		return 2
	}
	return 1
}

// PyenvRoot is where pyenv is: where it says, in the home, or beside its shims on
// PATH (another user's home, as after sudo -E).
func PyenvRoot(h *sysroot.Host) string {
	roots := []string{h.Env["PYENV_ROOT"], h.Home + "/.pyenv"}
	for _, dir := range h.PathDirs() {
		if root, shims := strings.CutSuffix(dir, "/shims"); shims {
			roots = append(roots, root)
		}
	}
	for _, dir := range roots {
		if h.Abs(dir) && h.IsDir(dir+"/versions") {
			return path.Clean(dir)
		}
	}
	return ""
}

// PyenvVersions lists pyenv's Pythons, the chosen one first. A shim is a script
// and says nothing by itself.
func PyenvVersions(h *sysroot.Host, root string, list func(string)) {
	chosen, _, _ := strings.Cut(h.Env["PYENV_VERSION"], ":")
	if chosen == "" {
		chosen, _, _ = strings.Cut(h.Text(root+"/version"), "\n")
	}
	names := slices.Sorted(slices.Values(h.Once(root + "/versions")))
	for _, name := range xslices.First(names, func(n string) bool { return n == strings.TrimSpace(chosen) }) {
		list(root + "/versions/" + name + "/bin")
	}
}

func uvRoots(h *sysroot.Host) []string {
	dirs := []string{h.Env["UV_PYTHON_INSTALL_DIR"], h.Env["XDG_DATA_HOME"] + "/uv/python", h.Home + "/.local/share/uv/python"}
	if h.OS == "windows" {
		dirs = append(dirs, h.Env["APPDATA"]+"/uv/python")
	}
	return slices.DeleteFunc(dirs, func(d string) bool { return !h.Abs(d) && h.OS != "windows" || !h.IsDir(d) })
}

// describe describes the interpreter at file by the files around it.
func describe(h *sysroot.Host, file string) (p machine.Python, ok bool) {
	if !h.IsProgram(file) {
		return p, false
	}
	real := h.Resolved(file)
	p = machine.Python{Path: file, Source: "system", Arch: foreignArch(h, real)}
	if cfg := ReadConfig(h, path.Dir(path.Dir(file))); cfg != nil {
		if p.Version = cfg.version; p.Version == "" {
			p.Version, _, _ = interpreterVersion(h, real)
		}
		p.Source = "venv"
		p.FreeThreaded = cfg.freeThreaded || strings.HasSuffix(path.Base(real), "t")
		return p, p.Version != ""
	}
	var stdlib string
	p.Version, stdlib, p.FreeThreaded = interpreterVersion(h, real)
	p.ExternallyManaged = stdlib != "" && h.Exists(stdlib+"/EXTERNALLY-MANAGED")
	p.NoEnsurepip = stdlib != "" && h.IsDir(stdlib+"/venv") && !h.IsDir(stdlib+"/ensurepip")
	prefix := path.Dir(path.Dir(real))
	switch {
	case h.IsDir(prefix + "/conda-meta"):
		p.Source = "conda"
	case strings.Contains(real, "/uv/python/"), h.Env["UV_PYTHON_INSTALL_DIR"] != "" && strings.HasPrefix(real, h.Env["UV_PYTHON_INSTALL_DIR"]+"/"):
		p.Source = "uv"
	case strings.Contains(real, "/.pyenv/"), h.Env["PYENV_ROOT"] != "" && strings.HasPrefix(real, h.Env["PYENV_ROOT"]+"/"):
		p.Source = "pyenv"
	}
	return p, p.Version != ""
}

// interpreterVersion reads the version of the interpreter at a path without
// links: from its directory (pyenv, uv), conda's record or its header; the name
// of its standard library gives at least 3.12.
func interpreterVersion(h *sysroot.Host, real string) (v, stdlib string, freeThreaded bool) {
	prefix := path.Dir(path.Dir(real))
	if h.OS == "windows" {
		prefix = path.Dir(real)
		if m := winPython().FindStringSubmatch(path.Base(prefix)); m != nil {
			return "3." + m[1], prefix + "/Lib", false
		}
	}
	minor, t := "", ""
	if m := pythonMinor().FindStringSubmatch(path.Base(real)); m != nil {
		minor, t = m[1], m[2]
	} else {
		for _, name := range h.Names(prefix + "/lib") {
			if m := pythonMinor().FindStringSubmatch(name); m != nil && h.Exists(prefix+"/lib/"+name+"/os.py") {
				minor, t = m[1], m[2]
			}
		}
	}
	if minor == "" {
		return "", "", false
	}
	stdlib = prefix + "/lib/python" + minor + t
	if !h.IsDir(stdlib) && h.IsDir(prefix+"/lib64/python"+minor+t) {
		stdlib = prefix + "/lib64/python" + minor + t
	}
	freeThreaded = t == "t" || strings.Contains(path.Base(prefix), "+freethreaded")
	return patched(h, prefix, minor, t), stdlib, freeThreaded
}

// patched completes 3.12 to 3.12.4 where a file beside the interpreter says so.
func patched(h *sysroot.Host, prefix, minor, t string) string {
	for _, name := range []string{path.Base(prefix), strings.TrimPrefix(path.Base(prefix), "cpython-")} {
		if v := pythonPatch().FindString(name); strings.HasPrefix(v, minor+".") {
			return v
		}
	}
	if v := CondaPackage(h, prefix, "python"); strings.HasPrefix(v, minor+".") {
		return v
	}
	header := h.Bytes(prefix+"/include/python"+minor+t+"/patchlevel.h", 1<<16)
	if m := patchLevel().FindSubmatch(header); m != nil && strings.HasPrefix(string(m[1]), minor+".") {
		return pythonPatch().FindString(string(m[1]))
	}
	return minor
}

// foreignArch is an interpreter's architecture where it is not the machine's,
// such as a 32-bit Python on Windows or an Intel one on an Apple chip.
func foreignArch(h *sysroot.Host, file string) string {
	header := h.Bytes(file, 1024)
	switch h.OS {
	case "linux":
		if a := platform.ELFArch(header); a != "" && a != platform.Arch(h) {
			return a
		}
	case "macos":
		if a := machArch(header); a == "x86_64" && runtime.GOARCH == "arm64" {
			return a
		}
	case "windows":
		if a := peArch(header); a != "" && a != "x86_64" {
			return a
		}
	}
	return ""
}

// machArch reads the CPU type of a thin 64-bit Mach-O header.
func machArch(b []byte) string {
	if len(b) < 8 || string(b[:4]) != "\xcf\xfa\xed\xfe" {
		return ""
	}
	return map[string]string{"\x07\x00\x00\x01": "x86_64", "\x0c\x00\x00\x01": "arm64"}[string(b[4:8])]
}

// peArch reads the machine of a PE header, whose place stands at byte 60.
func peArch(b []byte) string {
	if len(b) < 64 || string(b[:2]) != "MZ" {
		return ""
	}
	at := int(b[60]) | int(b[61])<<8
	if at+6 > len(b) || string(b[at:at+4]) != "PE\x00\x00" {
		return ""
	}
	return map[string]string{"\x4c\x01": "x86", "\x64\x86": "x86_64", "\x64\xaa": "arm64"}[string(b[at+4:at+6])]
}
