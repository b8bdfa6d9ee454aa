package probe

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/text"
)

// A pathEntry is a directory, or an archive, on Python's search path, and the line that put
// it there.
type pathEntry struct {
	dir string
	at  machine.Origin
}

// insertLine puts a directory first on sys.path, whatever happens: it is not indented.
var insertLine = lazy.Regexp(`(?m)^(?:import [\w, ]+; *)?sys\.path(?:\.insert\( *0 *, *|\[ *: *0 *\] *= *\[ *)["'](/[^"'\n]+)["']`)

// searchPath reads what the files that Python runs when it starts do to its search path (the
// module site of its library), then the distributions that are on it. A line of a .pth file
// names a directory that comes last, unless it begins with import.
func (h *host) searchPath(e *Env) {
	own := e.Sites
	for _, file := range h.startFiles(own) {
		code := h.bytes(file, 256<<10)
		at := func(offset int) machine.Origin {
			return machine.Origin{Kind: machine.OriginPython, File: text.Printable(file), Line: 1 + bytes.Count(code[:offset], []byte("\n"))}
		}
		for _, m := range insertLine().FindAllSubmatchIndex(code, 20) {
			e.First = append(e.First, pathEntry{string(code[m[2]:m[3]]), at(m[0])})
		}
		if !strings.HasSuffix(file, ".pth") {
			continue
		}
		offset := 0
		for line := range bytes.Lines(code) {
			x := pathEntry{strings.TrimSpace(string(line)), at(offset)}
			offset += len(line)
			if x.dir == "" || x.dir[0] == '#' || strings.HasPrefix(x.dir, "import ") || len(e.Sites)+len(e.Gone) >= maxDirs {
				continue
			}
			if !h.abs(x.dir) {
				x.dir = path.Join(path.Dir(file), x.dir)
			}
			switch x.dir = path.Clean(x.dir); {
			case slices.Contains(e.Sites, x.dir):
			case h.exists(x.dir):
				e.Sites = append(slices.Clip(e.Sites), x.dir)
			default:
				e.Gone = append(e.Gone, x)
			}
		}
	}
	e.Dists = h.dists(e.Sites)
}

// startFiles are sitecustomize, usercustomize and the .pth files.
func (h *host) startFiles(sites []string) []string {
	var files []string
	for _, dir := range append(strings.FieldsFunc(h.env["PYTHONPATH"], func(r rune) bool { return r == ':' }), sites...) {
		for _, name := range h.names(dir) {
			if name == "sitecustomize.py" || name == "usercustomize.py" || strings.HasSuffix(name, ".pth") && slices.Contains(sites, dir) {
				files = append(files, dir+"/"+name)
			}
		}
	}
	return files
}
