package libraries

import (
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/loader"
	"envfix/internal/machine"
	"envfix/internal/probe/platform"
	"envfix/internal/probe/sysroot"
	"envfix/internal/probe/variables"
	"envfix/internal/text"
)

// wheelLibrary matches the libraries that wheels of torch and of NVIDIA bring.
var wheelLibrary = lazy.Regexp(`^lib(cu|nv|nccl|torch|c10)[A-Za-z0-9_-]*\.so[.0-9]*$`)

// maxFiles is how many files of a directory are kept.
const maxFiles = 200

// Path reads the entries of LD_LIBRARY_PATH, which the loader searches
// before the libraries that torch brings.
func Path(h *sysroot.Host) (out []machine.LibraryDir) {
	from := &variables.Origins{Host: h}
	for entry := range strings.SplitSeq(h.Env["LD_LIBRARY_PATH"], ":") {
		if entry == "" || len(out) == variables.MaxDirs || slices.ContainsFunc(out, func(d machine.LibraryDir) bool { return d.Path == entry }) {
			continue
		}
		d := machine.LibraryDir{Path: text.Printable(entry), Files: []string{}, Origins: from.Of("LD_LIBRARY_PATH", entry)}
		if len(d.Origins) > 0 {
			d.From = d.Origins[0].Place()
		}
		for _, name := range h.Names(entry) {
			if wheelLibrary().MatchString(name) && len(d.Files) < maxFiles {
				d.Files = append(d.Files, name)
			}
		}
		out = append(out, d)
	}
	return out
}

// within reports whether a file lies below one of some directories.
func within(h *sysroot.Host, file string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return strings.HasPrefix(file, dir+"/") || h.Root == "" && strings.HasPrefix(file, h.ResolvedDir(dir)+"/")
	})
}

// wheelLibraries are the libraries that NVIDIA's packages brought, by name.
func wheelLibraries(h *sysroot.Host, sites []string) map[string]string {
	out := map[string]string{}
	for _, site := range sites {
		dirs := text.Each(h.Names(site+"/nvidia"), func(part string) string { return site + "/nvidia/" + part + "/lib" })
		for _, dir := range append(dirs, site+"/torch/lib") {
			for _, name := range h.Names(dir) {
				if wheelLibrary().MatchString(name) && out[name] == "" {
					out[name] = dir + "/" + name
				}
			}
		}
	}
	return out
}

// loadedFrom adds what put the directories of libraries on the loader's path that
// are taken in place of the environment's own, or of the driver's.
func loadedFrom(h *sysroot.Host, list []machine.LoadedLibrary) {
	var config []loaderLine
	for i := range list {
		l := &list[i]
		if l.Wheel != "" {
			l.Version = versionOf(h, l.Path)
		}
		switch driver := strings.HasPrefix(l.Name, "libcuda.so"); {
		case l.Wheel == "" && !driver:
		case l.Entry != "":
			l.Origins = entryFrom(h, l.Via, l.Entry)
		case l.Via == "ld.so.cache" && (!driver || strings.Contains(l.Path, "/stubs/")):
			if config == nil {
				config = loaderConfig(h)
			}
			for _, c := range config {
				if c.dir == path.Clean(l.Dir) || h.Resolved(c.dir) == path.Dir(l.Path) {
					l.Origins = append(l.Origins, c.Origin)
				}
			}
		}
	}
}

// entryFrom is what put an entry into a variable, or into the file of the loader.
func entryFrom(h *sysroot.Host, via, entry string) []machine.Origin {
	if via == loader.ByPreloadFile {
		return []machine.Origin{{Kind: machine.OriginProfile, File: via}}
	}
	return (&variables.Origins{Host: h}).Of(via, entry)
}

// A loaderLine is one directory of the dynamic loader's configuration.
type loaderLine struct {
	dir string
	machine.Origin
}

// loaderConfig are the lines of the dynamic loader's configuration that name a
// directory (ldconfig(8)).
func loaderConfig(h *sysroot.Host) (out []loaderLine) {
	files := []string{"/etc/ld.so.conf"}
	for _, name := range h.Names("/etc/ld.so.conf.d") {
		if strings.HasSuffix(name, ".conf") {
			files = append(files, "/etc/ld.so.conf.d/"+name)
		}
	}
	for _, f := range files {
		for i, line := range strings.Split(string(h.Bytes(f, 1<<18)), "\n") {
			line, _, _ = strings.Cut(line, "#")
			if dir := strings.TrimSpace(line); path.IsAbs(dir) && len(out) < 200 {
				out = append(out, loaderLine{path.Clean(dir), machine.Origin{Kind: machine.OriginLoader, File: text.Printable(f), Line: i + 1}})
			}
		}
	}
	return out
}

// IsELF reports whether a file is called as shared libraries of Linux are.
func IsELF(file string) bool {
	base := path.Base(file)
	return strings.HasSuffix(base, ".so") || strings.Contains(base, ".so.")
}

// brought are the libraries that torch and the CUDA packages bring, as an
// extension asks for them. What a wheel carries itself has a name of its own
// (auditwheel adds a hash).
var brought = lazy.Regexp(
	`^lib((?:torch|c10)(?:_\w+)?|cudart|cublas|cublasLt|cudnn|cufft|curand|cusolver|cusparse|nvrtc|nccl)\.so(\.\d+)*$`,
)

// AddLinks adds what a library asks for.
func AddLinks(h *sysroot.Host, list []string, file string) []string {
	o := platform.Loader(h).Read(file)
	if o == nil {
		return list
	}
	for _, name := range o.Needed {
		if brought().MatchString(name) && !slices.Contains(list, name) && !h.Exists(path.Dir(file)+"/"+name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
