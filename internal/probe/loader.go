package probe

import (
	"bytes"
	"encoding/binary"
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/text"
)

// A loader finds libraries as glibc's does (ld.so(8)): the RPATH of who asks and
// of who loaded that, LD_LIBRARY_PATH, the RUNPATH of who asks, the cache, the
// default directories. What is loaded once serves everybody who asks by its name.
type loader struct {
	h       *host
	program *object // the interpreter; nil unknown
	env     []string
	entries []string // of LD_LIBRARY_PATH as they stand there, one for each of env
	cache   map[string][]string
	loaded  map[string]bool
	out     []machine.LoadedLibrary
	objects []*object
	like    *object // of whose processor all must be
}

// maxObjects is the most libraries that are followed; torch has about thirty.
const maxObjects = 200

func (h *host) newLoader(python string) *loader {
	l := &loader{h: h, loaded: map[string]bool{}, program: h.object(python)}
	for dir := range strings.SplitSeq(strings.ReplaceAll(h.env["LD_LIBRARY_PATH"], ";", ":"), ":") {
		if path.IsAbs(dir) && len(l.env) < maxDirs {
			l.env, l.entries = append(l.env, path.Clean(dir)), append(l.entries, dir)
		}
	}
	l.cache = loaderCache(h.bytes("/etc/ld.so.cache", maxFile))
	return l
}

// start follows a library that Python opens by its path.
func (l *loader) start(file string) {
	o := l.h.object(file)
	if o == nil {
		return
	}
	if l.like == nil {
		l.like = o
	}
	o.loader = l.program
	l.loaded[path.Base(file)] = true
	first := len(l.objects)
	l.objects = append(l.objects, o)
	for i := first; i < len(l.objects) && len(l.objects) < maxObjects; i++ { // breadth first, as the loader does
		for _, name := range slices.Concat(l.objects[i].needed, l.opened(l.objects[i])) {
			l.load(name, l.objects[i])
		}
	}
}

// opened lists what a library opens by name while it works: libcudart the
// driver's library, cuDNN its parts. libcudnn.so.9 opens those but the engines and
// heuristics, which libcudnn_graph.so.9 opens (the names in the files of 9.26).
func (l *loader) opened(o *object) []string {
	name := path.Base(o.path)
	if strings.HasPrefix(name, "libcudart.so") {
		return []string{"libcuda.so.1"}
	}
	stem, major, _ := strings.Cut(o.soname, ".so.")
	if stem != "libcudnn" && stem != "libcudnn_graph" || major == "" {
		return nil
	}
	var parts []string
	for _, f := range l.h.names(path.Dir(o.path)) {
		late := strings.HasPrefix(f, "libcudnn_engines_") || strings.HasPrefix(f, "libcudnn_heuristic")
		if strings.HasPrefix(f, "libcudnn_") && strings.HasSuffix(f, ".so."+major) && late == (stem == "libcudnn_graph") {
			parts = append(parts, f)
		}
	}
	return parts
}

func (l *loader) load(name string, by *object) {
	if l.loaded[name] || !wheelLibrary().MatchString(name) {
		return
	}
	l.loaded[name] = true
	o, via, entry := l.find(name, by)
	found := machine.LoadedLibrary{Name: text.Printable(name), By: text.Printable(path.Base(by.path))}
	if o != nil {
		found.Path, found.Via, found.Size, found.Version = text.Printable(o.path), via, o.size, versionOfFile(o.path)
		found.Entry, found.Dir = text.Printable(entry), text.Printable(o.dir)
		o.loader = by
		l.objects = append(l.objects, o)
	}
	l.out = append(l.out, found)
}

// find returns the library that a name leads to, by which rule, and by which
// entry of LD_LIBRARY_PATH.
func (l *loader) find(name string, by *object) (o *object, via, entry string) {
	if len(by.runpath) == 0 {
		for o := by; o != nil; o = o.loader {
			if found := l.in(o.rpath, name); found != nil {
				return found, "RPATH", ""
			}
		}
	}
	for i, dir := range l.env {
		if found := l.fits(dir + "/" + name); found != nil {
			return found, "LD_LIBRARY_PATH", l.entries[i]
		}
	}
	if found := l.in(by.runpath, name); found != nil {
		return found, "RUNPATH", ""
	}
	for _, file := range l.cache[name] {
		if found := l.fits(file); found != nil {
			return found, "ld.so.cache", ""
		}
	}
	return l.in([]string{"/lib64", "/usr/lib64", "/lib", "/usr/lib"}, name), "default", ""
}

func (l *loader) in(dirs []string, name string) *object {
	for _, dir := range dirs {
		if found := l.fits(dir + "/" + name); found != nil {
			return found
		}
	}
	return nil
}

// fits reads a library; the loader passes over those of another processor.
func (l *loader) fits(file string) *object {
	o := l.h.object(file)
	if o == nil || l.like != nil && (o.machine != l.like.machine || o.class != l.like.class) {
		return nil
	}
	o.dir = path.Dir(file)
	return o
}

var fileVersion = lazy.Regexp(`\.so\.(\d+(?:\.\d+)+)$`)

// versionOfFile is the version in the name of a library: libcudnn.so.9.10.2.
func versionOfFile(file string) string {
	if m := fileVersion().FindStringSubmatch(path.Base(file)); m != nil {
		return m[1]
	}
	return ""
}

// versionOf is the version of a library by its name, else that of the package of
// NVIDIA's that brought it: …/nvidia/cudnn/lib/… is of nvidia_cudnn_cu12 beside it.
func (h *host) versionOf(file string) string {
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
	for _, name := range h.names(site) {
		dist, ok := strings.CutPrefix(name, "nvidia_"+part)
		dist, info := strings.CutSuffix(dist, ".dist-info")
		label, v, cut := strings.Cut(dist, "-")
		if ok && info && cut && (label == "" || strings.HasPrefix(label, "_cu")) && fileVersion().MatchString(".so."+v) {
			return v
		}
	}
	return ""
}

// loaderCache reads ld.so.cache in the form that glibc has written since 2.2: a
// header of 48 bytes, entries of 24 (flags, key, value, OS version, hwcap), then
// strings. Keys and values are offsets from the header (glibc, dl-cache.h).
func loaderCache(data []byte) map[string][]string {
	magic := []byte("glibc-ld.so.cache1.1")
	at := bytes.Index(data, magic)
	if at < 0 || len(data) < at+48 {
		return nil
	}
	data = data[at:]
	n := binary.LittleEndian.Uint32(data[20:])
	out := map[string][]string{}
	for i := range int64(n) {
		entry := 48 + 24*i
		if entry+24 > int64(len(data)) {
			break
		}
		name := cString(data, binary.LittleEndian.Uint32(data[entry+4:]))
		if wheelLibrary().MatchString(name) {
			out[name] = append(out[name], cString(data, binary.LittleEndian.Uint32(data[entry+8:])))
		}
	}
	return out
}

func cString(data []byte, at uint32) string {
	if int64(at) >= int64(len(data)) {
		return ""
	}
	s, _, _ := bytes.Cut(data[at:], []byte{0})
	return string(s)
}
