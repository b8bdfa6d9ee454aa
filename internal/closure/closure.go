// Package closure says what the sources of a project import beside their own modules and
// Python's, and which distributions bring it, by what their wheels hold. Sources are
// read, and nothing of them is run.
package closure

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/modules"
	"envfix/internal/pyproject"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// A Module is one that a project imports and that is neither its own nor Python's.
type Module struct {
	Name          string   // as far as it is told from others: yaml, google.protobuf
	Distributions []string // that bring it, the likeliest first; none: not known
	At            string   // the first file that imports it
	Use           Use
	Parts         []string // what of it is imported, on no side of an if alone, each by its whole name
	Begins        []string // those that files import at their beginning
}

// A Use says for what a module is imported, the weightiest last.
type Use int

// The uses.
const (
	Guarded Use = iota // what imports it does without
	Aside              // by tests, demos and scripts alone
	Needed
)

// The bounds of what is read of one project.
const (
	mostFiles = 6000
	mostBytes = 1 << 20 // of one file
	mostDirs  = 20000
)

// asideFile are the files that are no part of what a project is used for.
var asideFile = lazy.Regexp(`(?i)(^|/)((unit_?|integration_?)?tests?|testing|examples?|demos?|docs?|scripts?|tools|bench(marks?)?|notebooks?|\.[^/]+)/|` +
	`(^|/)(setup|conftest|noxfile|fabfile|hubconf|test[^/]*|[^/]*_test|[^/]*demo[^/]*|cog_?[^/]*)\.py$`)

// Of are the modules that the sources below a folder import, by name. started reports whether
// the project's documents start a file: then it is what the project is used for, wherever it lies.
func Of(fsys fs.FS, started func(name string) bool) []Module {
	s := sources{files: map[string]bool{}, dirs: map[string]bool{}, roots: map[string]bool{}, inner: map[string]bool{}, found: map[string]*Module{}}
	s.list(fsys)
	for _, name := range s.order {
		s.read(fsys, name, asideFile().MatchString(name) && !started(name))
	}
	return text.Each(slices.Sorted(maps.Keys(s.found)), func(name string) Module { return *s.found[name] })
}

// sources are the Python files of a project.
type sources struct {
	order []string
	files map[string]bool // path of each
	dirs  map[string]bool // folders with such files below them
	roots map[string]bool // modules of folders that are no packages: somebody puts those on sys.path
	inner map[string]bool // modules of packages: somebody may put those on it as well
	found map[string]*Module
}

// list finds the files; environments, what git hides and what other languages bring are
// not the project's.
func (s *sources) list(fsys fs.FS) {
	seen := 0
	_ = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read is not known
		case d.IsDir() && name != ".":
			_, env := fs.Stat(fsys, name+"/pyvenv.cfg")
			if seen++; seen > mostDirs || env == nil || d.Name()[0] == '.' || slices.Contains([]string{"node_modules", "__pycache__", "site-packages"}, d.Name()) {
				return fs.SkipDir
			}
		case len(s.order) == mostFiles:
			return fs.SkipAll
		case d.Type()&fs.ModeSymlink != 0: // of a file that is read where it lies, or of a folder: the name is the project's
			s.files[name], s.dirs[name] = true, true
		case strings.HasSuffix(name, ".py") && d.Type().IsRegular():
			if info, err := d.Info(); err != nil || info.Size() > mostBytes {
				return nil
			}
			s.order = append(s.order, name)
			s.files[name] = true
			for dir := path.Dir(name); !s.dirs[dir]; dir = path.Dir(dir) {
				s.dirs[dir] = true
			}
		}
		return nil
	})
	s.nameRoots()
}

// nameRoots names the modules that no package holds.
func (s *sources) nameRoots() {
	for _, name := range s.order {
		dir, module := path.Split(strings.TrimSuffix(name, ".py"))
		if module == "__init__" {
			dir, module = path.Split(path.Clean(dir))
		}
		if s.files[dir+"__init__.py"] {
			s.inner[module] = true
		} else {
			s.roots[module] = true
		}
	}
}

// own reports whether a module that a file imports is the project's: beside the file, in
// a folder above it, or where sys.path is made to lead.
func (s *sources) own(file, module string, known bool) bool {
	top, rest, _ := strings.Cut(module, ".")
	next, _, _ := strings.Cut(rest, ".")
	if s.roots[top] || !known && s.inner[top] {
		return true
	}
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		for _, base := range []string{dir, path.Join(dir, "src")} {
			inner := path.Join(base, top)
			switch {
			case s.files[inner+".py"], s.files[inner+"/__init__.py"]:
				return true
			// a folder without __init__.py stands behind what is installed under its name
			case s.dirs[inner] && (!known || s.files[inner+"/"+next+".py"] || next != "" && s.dirs[inner+"/"+next]):
				return true
			}
		}
		if dir == "." {
			return false
		}
	}
}

// read adds what one file imports.
func (s *sources) read(fsys fs.FS, name string, aside bool) {
	content, _ := fs.ReadFile(fsys, name) // what cannot be read is not known
	for _, i := range pyproject.Imports(content) {
		module, brought := modules.Brought(i.Module)
		if slices.Contains(brought, modules.Python) || module == "__main__" || s.own(name, i.Module, len(brought) > 0) {
			continue
		}
		use := map[bool]Use{true: Aside, false: Needed}[aside]
		if i.Guarded {
			use = Guarded
		}
		m := s.found[module]
		if m == nil || use > m.Use {
			m = &Module{Name: module, Distributions: brought, At: name, Use: use}
			s.found[module] = m
		}
		if use == Needed && !i.Branch && i.Module != module {
			m.Parts = xslices.Add(m.Parts, i.Module)
			if !i.Inner {
				m.Begins = xslices.Add(m.Begins, i.Module)
			}
		}
	}
}
