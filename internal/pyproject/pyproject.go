// Package pyproject reads what a Python project asks for: requirements files,
// pyproject.toml, setup.py and setup.cfg, environment.yml, pixi.toml, .python-version,
// and the lines of scripts that install. It also writes the change to
// pyproject.toml that makes uv take torch from the chosen index.
//
// It is pure and follows nothing by itself: nested files come through a function
// of the caller, and URLs, editable installs and index options are reported, not
// obeyed.
package pyproject

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// maxFile bounds what is read; a project file is a few kilobytes.
const maxFile = 1 << 20

// A Project is what a file asks for.
type Project struct {
	Name         string // as it calls itself; "" it does not, or that is computed
	Requirements []pep508.Requirement
	Below        []pep508.Requirement // what pip installs after what conda does
	Python       string               // requires-python, or the content of .python-version
	Groups       []string             // dependency groups and extras that it defines, sorted
	Extras       []string             // those of them that are extras, normalised
	Indexes      []Index              // indexes that it names
	Sources      []Source             // packages that it takes from somewhere in particular
	Notes        []string             // what was not followed, and why
	Hashed       bool                 // its lines name the hashes of files: it lists all that an environment is to hold

	Limits      []pep508.Requirement // constraints: they limit a package that is asked for and ask for none
	Overrides   []pep508.Requirement // uv's: what stands here replaces what other packages say
	Places      []Place              // what is installed from a folder, an address or a repository
	Hashes      []Hash
	Options     []string  // of the resolution, as uv's flags: "exclude-newer=2026-01-01"
	TorchIn     []Carrier // extras and groups that ask for torch
	Builds      bool      // it says how the project itself is built: that can be installed
	Laid        bool      // it says which packages that is, or its backend is not setuptools, which looks for them
	BuildImport []string  // modules that its setup.py imports in any case, or torch in some
	BuildNeeds  []string  // packages that its build system requires
	Unversioned bool      // it is to be built, and its [project] says no version, nor that it is computed: no tool builds that
	Silent      bool      // a pyproject.toml that says nothing of dependencies: setup.py or setup.cfg does
	Unfollowed  []string  // what is not followed, and changes no file that is locked as far as is known
	Refused     []string  // what cannot be followed when a lock is made from it, each with what to do

	Members []string   // patterns of the folders of uv's workspace
	dynamic [][]string // files that a pyproject.toml takes its dependencies from
}

// A Place is a package that comes from a folder, an address or a repository.
type Place struct {
	Package  string // normalised; "" where only the place is named
	Where    string // a path relative to Dir, a URL, or git+URL@revision; "" a member of the workspace
	Dir      string // the folder of the file that names it
	Editable bool
	Marker   string
	From     string // file and line, or the option
}

// Local reports whether the place is a path on this machine.
func (p Place) Local() bool { return !strings.Contains(p.Where, "://") }

// A Hash is one SHA-256 that a line admits for a package's files.
type Hash struct{ Package, SHA256 string }

// An Index is an index that a project names.
type Index struct {
	Name     string // "" unnamed
	URL      string
	Explicit bool   // used only by packages whose source names it
	Default  bool   // stands in for the default index
	From     string // file and line, or the option
}

// A Source says where uv takes one package from.
type Source struct {
	Package string // normalised
	Index   string // name of an index; "" a path, a URL or a repository
	Other   string // path, url or git, where Index is ""
	Marker  string
	Group   string // the extra or group that alone takes it from there; "" all do
}

// document is the part of pyproject.toml that is read.
type document struct {
	Project struct {
		Name         string              `toml:"name"`
		Version      string              `toml:"version"`
		Dependencies []string            `toml:"dependencies"`
		Optional     map[string][]string `toml:"optional-dependencies"`
		Python       string              `toml:"requires-python"`
		Dynamic      []string            `toml:"dynamic"`
	} `toml:"project"`
	Build *struct {
		Requires []string `toml:"requires"`
		Backend  string   `toml:"build-backend"`
	} `toml:"build-system"`
	Groups map[string][]any `toml:"dependency-groups"`
	Tool   struct {
		UV struct {
			Package   *bool `toml:"package"`
			Workspace struct {
				Members []string `toml:"members"`
			} `toml:"workspace"`
			Sources    map[string]any     `toml:"sources"`
			Index      []map[string]any   `toml:"index"`
			IndexURL   string             `toml:"index-url"`
			ExtraIndex []string           `toml:"extra-index-url"`
			Limits     []string           `toml:"constraint-dependencies"`
			Overrides  []string           `toml:"override-dependencies"`
			Conflicts  [][]map[string]any `toml:"conflicts"`
		} `toml:"uv"`
		Poetry poetry `toml:"poetry"`
		Hatch  struct {
			Metadata struct {
				Hooks map[string]map[string]any `toml:"hooks"`
			} `toml:"metadata"`
		} `toml:"hatch"`
		Setuptools struct {
			Dynamic  map[string]any `toml:"dynamic"`
			Packages any            `toml:"packages"`
			Modules  any            `toml:"py-modules"`
		} `toml:"setuptools"`
	} `toml:"tool"`
}

// unmarshal reads the TOML of strangers.
func unmarshal(b []byte, v any) error {
	if err := text.BoundTOML(b); err != nil {
		return fmt.Errorf("%w: this is not a project file", err)
	}
	return toml.Unmarshal(b, v)
}

// ReadProject reads a pyproject.toml. groups are the dependency groups and
// extras to include. Its error names the file and what was wrong.
func ReadProject(content []byte, name string, groups ...string) (*Project, error) {
	if len(content) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d MiB: this is not a project file", name, maxFile>>20)
	}
	var d document
	if err := unmarshal(content, &d); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			row, _ := at.Position()
			return nil, fmt.Errorf("%s:%d: %s", name, row, strings.TrimPrefix(at.Error(), "toml: "))
		}
		return nil, fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "toml: "))
	}
	p := &Project{Name: cmp.Or(d.Project.Name, d.Tool.Poetry.Name), Python: strings.TrimSpace(d.Project.Python)}
	d.packaging(p)
	r := reader{p: p, name: name}
	r.add(d.Project.Dependencies, "project.dependencies")
	declare(&r, d.Project.Optional, func(lines []string) []string { return lines })
	p.Groups = slices.AppendSeq(p.Groups, maps.Keys(d.Groups))
	r.poetry(&d.Tool.Poetry, groups)
	d.outside(p)
	p.Groups = slices.Compact(slices.Sorted(slices.Values(p.Groups)))
	slices.Sort(p.Extras)
	if r.err != nil {
		return nil, r.err
	}
	for _, g := range groups {
		if err := r.group(&d, g, 0); err != nil {
			return nil, err
		}
	}
	if err := d.conflict(p, name, groups); err != nil {
		return nil, err
	}
	p.Indexes, p.Members = d.indexes(name), d.Tool.UV.Workspace.Members
	p.Limits = r.parse(d.Tool.UV.Limits, "tool.uv.constraint-dependencies")
	p.Overrides = r.parse(d.Tool.UV.Overrides, "tool.uv.override-dependencies")
	d.places(p, name)
	p.byGroup(groups)
	var raw struct {
		Tool struct {
			UV map[string]any `toml:"uv"`
		} `toml:"tool"`
	}
	if err := unmarshal(content, &raw); err == nil { // it was read above
		uvOptions(raw.Tool.UV, p, name)
	}
	return p, r.err
}

// conflict is the error for groups that exclude each other, and notes those of which one is left
// to be asked for.
func (d *document) conflict(p *Project, name string, groups []string) error {
	for _, set := range d.Tool.UV.Conflicts {
		names := text.Each(set, func(m map[string]any) string { return str(m["extra"]) + str(m["group"]) })
		both := slices.DeleteFunc(slices.Clone(names), func(g string) bool { return !isAsked(groups, g) })
		if len(both) == 0 && len(names) > 1 {
			p.Notes = append(p.Notes, fmt.Sprintf("%s: %s exclude each other, and none is asked for: `-r '%s[%s]'` asks for one", name, few(names), name, text.Escape(names[0])))
		}
		if len(both) > 1 {
			return fmt.Errorf("%s: %s exclude each other (tool.uv.conflicts): ask for one of them", name, strings.Join(both, " and "))
		}
	}
	return nil
}

// byGroup asks for the build that an extra or group which is asked for takes from its own
// index; the sources of the others do not count.
func (p *Project) byGroup(groups []string) {
	p.Sources = slices.DeleteFunc(p.Sources, func(s Source) bool { return s.Group != "" && !isAsked(groups, s.Group) })
	for _, s := range p.Sources {
		at, named := xslices.Find(p.Indexes, func(i Index) bool { return i.Name == s.Index })
		for i, q := range p.Requirements {
			if named && s.Package == q.Name && s.Marker == "" && q.Label == "" && s.Group != "" {
				p.Requirements[i].Label = Label(at.URL)
			}
		}
	}
}

func isAsked(groups []string, name string) bool {
	return slices.ContainsFunc(groups, func(g string) bool { return machine.NormalName(g) == machine.NormalName(name) })
}

// packaging reads how the project itself is built, where it is one to install: uv takes one
// that names no build system for none; setuptools is one.
func (d *document) packaging(p *Project) {
	asked, poetry, tool := d.Tool.UV.Package, d.Tool.Poetry.Package, d.Tool.Setuptools
	p.Laid = tool.Packages != nil || tool.Modules != nil
	p.Builds = (d.Build != nil || tool.Packages != nil) && p.Name != "" && (asked == nil || *asked) && (poetry == nil || *poetry)
	p.Unversioned = p.Builds && d.Project.Name != "" && d.Project.Version == "" && !slices.Contains(d.Project.Dynamic, "version")
	if d.Build != nil {
		for _, line := range d.Build.Requires {
			if q, err := pep508.Parse(line, ""); err == nil {
				p.BuildNeeds = append(p.BuildNeeds, q.Name)
			}
		}
		p.Laid = p.Laid || !strings.HasPrefix(cmp.Or(d.Build.Backend, "setuptools"), "setuptools")
	}
}

// outside takes over what says the dependencies where [project] does not: a file that
// setuptools is told of, or setup.py and setup.cfg.
func (d *document) outside(p *Project) {
	dynamic := slices.Contains(d.Project.Dynamic, "dependencies")
	files := table(d.Tool.Setuptools.Dynamic["dependencies"])["file"]
	hatch := anyList(d.Tool.Hatch.Metadata.Hooks["requirements_txt"]["files"]) // of the plugin hatch-requirements-txt
	for _, f := range slices.Concat(hatch, anyList(files), []any{files}) {
		if name := str(f); dynamic && name != "" {
			p.dynamic = append(p.dynamic, []string{name})
		}
	}
	p.Silent = len(p.Requirements) == 0 && len(p.dynamic) == 0 && (dynamic || p.Name == "")
}

// reader collects requirements and keeps the first error.
type reader struct {
	p    *Project
	name string
	err  error

	asked, groups int // requirements, and groups that were gone through
}

func (r *reader) add(lines []string, where string) {
	r.p.Requirements = append(r.p.Requirements, r.parse(lines, where)...)
}

func (r *reader) parse(lines []string, where string) []pep508.Requirement {
	var out []pep508.Requirement
	for _, l := range lines {
		if r.asked++; r.asked > mostRequirements {
			r.err = fmt.Errorf("%s: %s: more than %d requirements: this is not a project's list", r.name, where, mostRequirements)
			return nil
		}
		switch q, err := pep508.Parse(l, r.name+": "+where); {
		case err == nil:
			out = append(out, q)
		case r.err == nil:
			r.err = fmt.Errorf("%s: %s: %w", r.name, where, err)
		}
	}
	return out
}

// group adds a dependency group (PEP 735), with those that it includes, or an
// extra.
func (r *reader) group(d *document, name string, depth int) error {
	want := machine.NormalName(name)
	if r.groups++; depth > 20 || r.groups > mostFiles {
		return fmt.Errorf("%s: the dependency groups include each other", r.name)
	}
	_, found := d.Tool.Poetry.Groups[name] // that was added with Poetry's other tables
	for _, n := range sortedKeys(d.Project.Optional) {
		if machine.NormalName(n) == want {
			found = true
			r.add(d.Project.Optional[n], "project.optional-dependencies."+n)
		}
	}
	for _, n := range sortedKeys(d.Groups) {
		if machine.NormalName(n) != want {
			continue
		}
		found = true
		for _, item := range d.Groups[n] {
			line, isText := item.(string)
			include, includes := table(item)["include-group"].(string)
			switch {
			case isText:
				r.add([]string{line}, "dependency-groups."+n)
			case !includes:
				return fmt.Errorf("%s: dependency-groups.%s holds something that is neither a requirement nor include-group", r.name, n)
			default:
				if err := r.group(d, include, depth+1); err != nil {
					return err
				}
			}
		}
	}
	if !found {
		return fmt.Errorf("%s: there is no dependency group or extra %q", r.name, name)
	}
	return nil
}

func (d *document) indexes(name string) []Index {
	out := text.Each(d.Tool.UV.Index, func(m map[string]any) Index {
		return Index{Name: str(m["name"]), URL: str(m["url"]), Explicit: m["explicit"] == true, Default: m["default"] == true, From: name + ": tool.uv.index"}
	})
	if u := d.Tool.UV.IndexURL; u != "" {
		out = append(out, Index{URL: u, Default: true, From: name + ": tool.uv.index-url"})
	}
	return append(out, text.Each(d.Tool.UV.ExtraIndex, func(u string) Index { return Index{URL: u, From: name + ": tool.uv.extra-index-url"} })...)
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

var pythonLine = lazy.Regexp(`^(?:cpython[-@])?([0-9]+\.[0-9]+)(?:\.[^.]*?)?(t?)$`)

// PythonVersion reads a .python-version file: the first version that it names,
// such as "3.12"; "" where it names none.
func PythonVersion(content []byte) string {
	for line := range strings.Lines(string(content)) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			m := pythonLine().FindStringSubmatch(line)
			if m == nil || len(line) > 28 {
				return ""
			}
			return m[1] + m[2]
		}
	}
	return ""
}
