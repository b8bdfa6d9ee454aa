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
	"envfix/internal/xslices"
)

// A pathEntry is a directory, or an archive, on Python's search path, and the line that put
// it there.
type pathEntry struct {
	Dir string
	At  machine.Origin
}

// putsFirst is a line that puts directories first on sys.path, whatever happens: it is not
// indented. They are those that the file names.
var (
	putsFirst = lazy.Regexp(`(?m)^(?:[^#\s][^#\n]*; *)?sys\.path(?:\.insert\( *0 *,|\[ *: *0 *\] *= *\[).*`)
	someDir   = lazy.Regexp(`["'](/[^"'\n]+)["']`)
)

// A startFile is what Python runs when it starts.
type startFile struct {
	name string
	code []byte
}

// at is where in it something stands.
func (f startFile) at(offset int) machine.Origin {
	return machine.Origin{Kind: machine.OriginPython, File: text.Printable(f.name), Line: 1 + bytes.Count(f.code[:offset], []byte("\n"))}
}

// searchPath reads what the files that Python runs when it starts do to its search path (the
// module site of its library), then the distributions that are on it. A line of a .pth file
// names a directory that comes last, unless it begins with import.
func searchPath(h *sysroot.Host, e *Env) {
	own := e.Sites
	files := startFiles(h, own)
	for _, f := range files {
		for _, m := range startImport().FindAllSubmatch(f.code, 20) {
			if module := path.Dir(f.name) + "/" + string(m[1]) + ".py"; string(m[1]) != "_virtualenv" && h.Exists(module) {
				files = append(files, startFile{module, h.Bytes(module, maxStart)})
			}
		}
	}
	for _, f := range files {
		if putsFirst().Match(f.code) {
			for _, m := range someDir().FindAllSubmatchIndex(f.code, 20) {
				if dir := string(f.code[m[2]:m[3]]); !slices.Contains(own, dir) {
					e.First = append(e.First, pathEntry{dir, f.at(m[0])})
				}
			}
		}
		if strings.HasSuffix(f.name, ".pth") {
			e.adds(h, f)
		}
		for _, m := range mapped().FindAllSubmatchIndex(f.code, 20) {
			if bytes.Contains(f.code, []byte("\nMAPPING")) {
				e.add(h, pathEntry{path.Dir(string(f.code[m[2]:m[3]])), f.at(m[0])}, false)
			}
		}
	}
	e.targets(h)
	e.Dists = dists(h, e.Sites)
	for _, f := range files {
		if x := e.startFault(h, f); x.Is != "" {
			x.At = f.at(max(0, bytes.Index(f.code, []byte(x.How))))
			e.Starts = append(e.Starts, x)
		}
	}
	e.Starts = append(e.Starts, unfound(h, *e, files)...)
}

// targets takes the directories of PYTHONPATH for those of packages where torch lies in one of them alone (`pip install --target`).
func (e *Env) targets(h *sysroot.Host) {
	if others := pythonPath(h); !HasModule(h, e.Sites, "torch") && HasModule(h, others, "torch") {
		e.Sites = xslices.Once(e.Sites, others)
	}
}

// adds takes the directories that a .pth file names.
func (e *Env) adds(h *sysroot.Host, f startFile) {
	offset := 0
	for line := range bytes.Lines(f.code) {
		x := pathEntry{strings.TrimSpace(string(line)), f.at(offset)}
		offset += len(line)
		if x.Dir == "" || x.Dir[0] == '#' || strings.HasPrefix(x.Dir, "import ") || len(e.Sites)+len(e.Gone) >= variables.MaxDirs {
			continue
		}
		if !h.Abs(x.Dir) {
			x.Dir = path.Join(path.Dir(f.name), x.Dir)
		}
		x.Dir = path.Clean(x.Dir)
		e.add(h, x, bytes.Contains(f.code, []byte("sys.path[p:p]="))) // easy_install's
	}
}

// mapped is a package and its sources in what setuptools writes to install it in place (PEP 660).
var mapped = lazy.Regexp(`'\w+': '(/[^'\n]+)'`)

// add takes one directory that is named, to be looked into last, or first.
func (e *Env) add(h *sysroot.Host, x pathEntry, first bool) {
	switch {
	case slices.Contains(e.Sites, x.Dir):
	case !h.Exists(x.Dir):
		e.Gone = append(e.Gone, x)
	default:
		if e.Sites = append(slices.Clip(e.Sites), x.Dir); first {
			e.First = append(e.First, x)
		}
	}
}

var (
	aName      = lazy.Regexp(`\w+`)
	putsNone   = lazy.Regexp(`\bsys\.modules\[([^\]\n]+)\] *= *None\b`)
	endsPython = lazy.Regexp(`(?m)^(?:import [\w, ]+; *)?(?:(?:sys\.|os\._)?exit *\(|quit *\(|raise SystemExit\b).*`)
	hooksIn    = lazy.Regexp(`(\bin )?\bsys\.(?:modules|meta_path|path_hooks)\b(\.get\b)?|\b__import__ *=`) // with what only reads
	// What narrows Python for all that it imports: where it looks, how deep it calls, how much it may use.
	// In a file that works on how Python imports it keeps a module from it.
	refuses = lazy.Regexp(`\braise (?:ImportError|ModuleNotFoundError)\b.*`)
	narrows = lazy.Regexp(`(?m)^[^#\n]*?(\bsys\.path(?:(?:\[:\])? *= .*|\.(?:clear|remove|pop)\(.*)|` +
		`\bsetrecursionlimit\( *1?\d?\d *\)|\bsetrlimit\( *(?:resource\.)?RLIMIT_(?:AS|DATA)\b.*)`)
	// What leaves of the search path all but the working directory.
	leavesAll = lazy.Regexp(`\+ *sys\.path\b|= *sys\.path *\+|\*sys\.path\b|\.remove\( *(?:''|"") *\)`)
)

// startFault is what a file does to the import of torch, or to Python itself: the module
// site decodes a .pth file as UTF-8 and lets the error end the program. What a package brought
// does what it is for, unless it ends Python.
func (e Env) startFault(h *sysroot.Host, f startFile) machine.StartFault {
	none, end := putsNone().FindSubmatch(f.code), endsPython().Find(f.code)
	hook, _ := xslices.Find(hooksIn().FindAllSubmatch(f.code, -1), func(m [][]byte) bool { return len(m[1])+len(m[2]) == 0 })
	narrow, _ := xslices.Find(narrows().FindAllSubmatch(f.code, -1), func(m [][]byte) bool { return !leavesAll().Match(m[1]) })
	fault := func(is string, how []byte) machine.StartFault {
		return machine.StartFault{Is: is, How: text.Printable(string(how))}
	}
	switch {
	case end != nil:
		return fault(machine.StartEnds, end)
	case strings.HasSuffix(f.name, ".pth") && !utf8.Valid(f.code):
		return fault(machine.StartUnread, nil)
	case narrow == nil && none == nil && hook == nil, e.brings(h, f.name):
		return machine.StartFault{}
	case none != nil && (e.namesImported(none[1]) || slices.Contains(stdlibOfTorch, strings.Trim(string(none[1]), `"'_ `))):
		return fault(machine.StartHides, none[0])
	case narrow == nil && !e.namesImported(f.code):
		return machine.StartFault{}
	case none != nil && !bytes.ContainsAny(none[1], `"'`):
		return fault(machine.StartHides, none[0])
	case narrow != nil:
		return fault(machine.StartNarrows, narrow[1])
	case none == nil && refuses().Match(f.code):
		return fault(machine.StartHides, refuses().Find(f.code))
	case none == nil:
		return fault(machine.StartHooks, hook[0])
	}
	return machine.StartFault{}
}

// namesImported reports whether a text has the name of what importing torch imports.
func (e Env) namesImported(code []byte) bool {
	imported := Needs(e.Dists, "torch")
	return slices.ContainsFunc(aName().FindAll(code, -1), func(name []byte) bool {
		n := strings.ReplaceAll(string(name), "_", "-")
		return n == "torch" || n == "numpy" || n != "setuptools" && imported[n]
	})
}

// brings reports whether a package brought a file.
func (e Env) brings(h *sysroot.Host, file string) bool {
	return slices.ContainsFunc(e.Dists, func(d Dist) bool {
		return d.Path == path.Dir(file) && machine.Lists(h.Bytes(d.Info+"/RECORD", sysroot.MaxFile), path.Base(file))
	})
}

// maxStart bounds what is read of a file that Python runs when it starts.
const maxStart = 256 << 10

// startFiles are sitecustomize, usercustomize and the .pth files.
func startFiles(h *sysroot.Host, sites []string) (files []startFile) {
	for _, dir := range xslices.Once(pythonPath(h), sites) {
		for _, name := range h.Names(dir) {
			if name == "sitecustomize.py" || name == "usercustomize.py" || strings.HasSuffix(name, ".pth") && slices.Contains(sites, dir) {
				files = append(files, startFile{dir + "/" + name, h.Bytes(dir+"/"+name, maxStart)})
			}
		}
	}
	return files
}

// AtStart reads what sitecustomize, usercustomize and the .pth files set (the module site
// of Python's library).
func AtStart(h *sysroot.Host, sites []string) (out []machine.Variable) {
	for _, f := range startFiles(h, sites) {
		for _, a := range variables.InPython(f.code) {
			if _, set := h.Env[a.Variable]; variables.Tracked().MatchString(a.Variable) && (!set || a.Text == "") {
				at := f.at(0)
				at.Line = a.Line
				out = append(out, machine.Variable{Name: a.Variable, Value: variables.Redact(a.Value), AtStart: true, Origins: []machine.Origin{at}})
			}
		}
	}
	return out
}
