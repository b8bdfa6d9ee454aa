package python

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/probe/variables"
	"envfix/internal/text"
)

// A pathEntry is a directory, or an archive, on Python's search path, and the line that put
// it there.
type pathEntry struct {
	Dir string
	At  machine.Origin
}

// insertLine puts a directory first on sys.path, whatever happens: it is not indented.
var insertLine = lazy.Regexp(`(?m)^(?:import [\w, ]+; *)?sys\.path(?:\.insert\( *0 *, *|\[ *: *0 *\] *= *\[ *)["'](/[^"'\n]+)["']`)

// searchPath reads what the files that Python runs when it starts do to its search path (the
// module site of its library), then the distributions that are on it. A line of a .pth file
// names a directory that comes last, unless it begins with import.
func searchPath(h *sysroot.Host, e *Env) {
	own := e.Sites
	for _, file := range startFiles(h, own) {
		code := h.Bytes(file, 256<<10)
		at := func(offset int) machine.Origin {
			return machine.Origin{Kind: machine.OriginPython, File: text.Printable(file), Line: 1 + bytes.Count(code[:offset], []byte("\n"))}
		}
		if x := startFault(file, code); x.Is != "" {
			x.At = at(max(0, bytes.Index(code, []byte(x.How))))
			e.Starts = append(e.Starts, x)
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
			if x.Dir == "" || x.Dir[0] == '#' || strings.HasPrefix(x.Dir, "import ") || len(e.Sites)+len(e.Gone) >= variables.MaxDirs {
				continue
			}
			if !h.Abs(x.Dir) {
				x.Dir = path.Join(path.Dir(file), x.Dir)
			}
			switch x.Dir = path.Clean(x.Dir); {
			case slices.Contains(e.Sites, x.Dir):
			case h.Exists(x.Dir):
				e.Sites = append(slices.Clip(e.Sites), x.Dir)
			default:
				e.Gone = append(e.Gone, x)
			}
		}
	}
	e.Dists = dists(h, e.Sites)
}

var (
	namesTorch = lazy.Regexp(`\btorch\b`)
	putsNone   = lazy.Regexp(`\bsys\.modules\[[^\]\n]+\] *= *None\b`)
	hooksIn    = lazy.Regexp(`\bsys\.(?:modules|meta_path|path_hooks)\b|\b__import__ *=`)
)

// startFault is what a file does to the import of torch, or to Python itself: the module
// site decodes a .pth file as UTF-8 and lets the error end the program.
func startFault(file string, code []byte) machine.StartFault {
	how, hook := putsNone().Find(code), hooksIn().Find(code)
	switch {
	case strings.HasSuffix(file, ".pth") && !utf8.Valid(code):
		return machine.StartFault{Is: machine.StartUnread}
	case hook == nil || !namesTorch().Match(code):
	case how != nil:
		return machine.StartFault{Is: machine.StartHides, How: text.Printable(string(how))}
	default:
		return machine.StartFault{Is: machine.StartHooks, How: text.Printable(string(hook))}
	}
	return machine.StartFault{}
}

// startFiles are sitecustomize, usercustomize and the .pth files.
func startFiles(h *sysroot.Host, sites []string) []string {
	var files []string
	for _, dir := range append(strings.FieldsFunc(h.Env["PYTHONPATH"], func(r rune) bool { return r == ':' }), sites...) {
		for _, name := range h.Names(dir) {
			if name == "sitecustomize.py" || name == "usercustomize.py" || strings.HasSuffix(name, ".pth") && slices.Contains(sites, dir) {
				files = append(files, dir+"/"+name)
			}
		}
	}
	return files
}

// AtStart reads what sitecustomize, usercustomize and the .pth files set (the module site
// of Python's library).
func AtStart(h *sysroot.Host, sites []string) []machine.Variable {
	var out []machine.Variable
	for _, file := range startFiles(h, sites) {
		code := h.Bytes(file, 256<<10)
		for _, a := range variables.InPython(code) {
			if _, set := h.Env[a.Variable]; !variables.Tracked().MatchString(a.Variable) || set && a.Text != "" {
				continue
			}
			at := machine.Origin{Kind: machine.OriginPython, File: text.Printable(file), Line: a.Line}
			out = append(out, machine.Variable{Name: a.Variable, Value: variables.Redact(a.Value), AtStart: true, Origins: []machine.Origin{at}})
		}
	}
	return out
}
