package pyproject

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// Read reads a file of a project by its name: a requirements file, a pyproject.toml, a
// setup.py or setup.cfg, an environment.yml, a pixi.toml. open returns files that it
// names; groups are the extras and dependency groups to include. What a project asks of
// itself (`all = ["demo[x,y]"]`) are extras of its own, as for pip and uv, and nothing that
// an index has. Its error names the file and what was wrong.
func Read(content []byte, name string, open Opener, groups ...string) (*Project, error) {
	p, err := read(content, name, open, groups)
	if err != nil {
		return p, err
	}
	more := slices.DeleteFunc(p.ofItself(), func(extra string) bool { return isAsked(groups, extra) })
	if len(more) == 0 {
		return p, nil
	}
	return Read(content, name, open, slices.Concat(more, groups)...)
}

// ofItself takes out what a project requires of itself, and returns those of its extras that
// are named there.
func (p *Project) ofItself() (extras []string) {
	self := machine.NormalName(p.Name)
	p.Requirements = slices.DeleteFunc(p.Requirements, func(q pep508.Requirement) bool {
		if self == "" || q.Name != self {
			return false
		}
		own := xslices.Filter(p.Groups, func(g string) bool { return slices.Contains(p.Extras, machine.NormalName(g)) && isAsked(q.Extras, g) })
		if q.Marker == "" {
			extras = append(extras, own...)
		} else if len(own) > 0 {
			p.Notes = append(p.Notes, q.From+": "+text.Escape(q.Text)+" asks for extras of the project itself on some systems, and is not followed")
		}
		return true
	})
	return extras
}

func read(content []byte, name string, open Opener, groups []string) (*Project, error) {
	if len(content) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d MiB: this is not a project file", name, maxFile>>20)
	}
	switch base := path.Base(strings.ReplaceAll(name, `\`, "/")); {
	case base == "setup.py":
		return ReadSetup(content, name, open, groups...)
	case base == "setup.cfg":
		return ReadSetupCfg(content, name, open, groups...)
	case base == "pixi.toml":
		return asProject(ReadPixi(content, name))
	case strings.HasSuffix(base, ".toml"):
		p, err := ReadProject(content, name, groups...)
		if err == nil {
			err = (&reader{p: p, name: name}).files(p.dynamic, open)
		}
		return p, err
	case strings.HasSuffix(base, ".yml"), strings.HasSuffix(base, ".yaml"):
		return asProject(ReadEnvironment(content, name, open))
	}
	return ReadRequirements(content, name, open)
}

func asProject(e *Environment, err error) (*Project, error) {
	if err != nil {
		return nil, err
	}
	return &e.Project, nil
}

// poetry is what Poetry's own tables hold.
type poetry struct {
	Name         string         `toml:"name"`
	Package      *bool          `toml:"package-mode"`
	Dependencies map[string]any `toml:"dependencies"`
	Groups       map[string]struct {
		Dependencies map[string]any `toml:"dependencies"`
	} `toml:"group"`
}

// poetry adds the dependencies of [tool.poetry], and those of its groups that are asked for.
func (r *reader) poetry(d *poetry, groups []string) {
	r.poetryTable(d.Dependencies, "tool.poetry.dependencies")
	for _, g := range sortedKeys(d.Groups) {
		r.p.Groups = append(r.p.Groups, g)
		if slices.Contains(groups, g) {
			r.poetryTable(d.Groups[g].Dependencies, "tool.poetry.group."+g)
		}
	}
}

func (r *reader) poetryTable(table map[string]any, where string) {
	for _, name := range sortedKeys(table) {
		for _, v := range listed(table[name]) {
			m, isTable := v.(map[string]any)
			if !isTable {
				m = map[string]any{"version": v}
			}
			r.poetryOne(name, m, where)
		}
	}
}

func (r *reader) poetryOne(name string, m map[string]any, where string) {
	spec, ok := caret(str(m["version"]))
	if name == "python" {
		r.p.Python = cmp.Or(r.p.Python, spec)
		return
	}
	at := r.name + ": " + where + "." + name
	if m["optional"] == true {
		return // an extra's
	}
	switch place, _ := placeOf(m); {
	case strings.HasPrefix(place, "https://"):
		r.add([]string{name + " @ " + place}, where)
		return
	case place != "":
		r.p.Places = append(r.p.Places, Place{Package: machine.NormalName(name), Where: place, Dir: path.Dir(r.name), From: at})
		return
	}
	if !ok {
		r.p.Notes = append(r.p.Notes, fmt.Sprintf("%s: the version %q is not followed", at, text.Cut(str(m["version"]), 60)))
	}
	line := name + say.With("[", strings.Join(text.Each(anyList(m["extras"]), str), ","), "]") + spec
	markers := say.All(say.With("(", str(m["markers"]), ")"))
	if s, ok := caret(str(m["python"])); ok && s != "" {
		for clause := range strings.SplitSeq(s, ",") {
			op := strings.TrimRight(clause, "0123456789.*")
			markers = append(markers, fmt.Sprintf("python_version %s '%s'", op, clause[len(op):]))
		}
	}
	line += say.If(len(markers) > 0, " ; "+strings.Join(markers, " and "))
	r.lenient([]string{line}, where)
}

// caret is a version as Poetry writes it in the form of PEP 440: ^1.2 is >=1.2,<2, ~1.2 is
// >=1.2,<1.3, a bare one is that one. ok is false where it has no such form.
func caret(s string) (spec string, ok bool) {
	var out []string
	if strings.Contains(s, "|") {
		return "", false
	}
	for clause := range strings.SplitSeq(strings.ReplaceAll(s, " ", ""), ",") {
		if strings.ContainsAny(clause, "^~<>") {
			clause, _, _ = strings.Cut(clause, "+") // Poetry admits a build's label in a range, and PEP 440 none
		}
		switch {
		case clause == "" || clause == "*":
		case clause[0] == '^' || clause[0] == '~' && !strings.HasPrefix(clause, "~="):
			v := clause[1:]
			next := nextRelease(v, clause[0] == '^')
			if next == "" {
				return "", false
			}
			out = append(out, ">="+v, "<"+next)
		case clause[0] >= '0' && clause[0] <= '9':
			out = append(out, "=="+clause)
		case clause[0] == '=' && !strings.HasPrefix(clause, "=="):
			out = append(out, "="+clause)
		default:
			out = append(out, clause)
		}
	}
	return strings.Join(out, ","), true
}

// nextRelease is the first version that a caret (its leftmost number that is not 0
// grows) or a tilde (its second) does not admit; "" v is no version.
func nextRelease(v string, caret bool) string {
	parts := strings.Split(v, ".")
	at := min(1, len(parts)-1)
	for i := 0; caret && i < len(parts); i++ {
		if at = i; parts[i] != "0" {
			break
		}
	}
	var n int
	if _, err := fmt.Sscanf(parts[at], "%d", &n); err != nil {
		return ""
	}
	return strings.Join(append(slices.Clone(parts[:at]), fmt.Sprint(n+1)), ".")
}

// pixiTables are what a project of pixi, or one of its features, asks for.
type pixiTables struct {
	Dependencies map[string]any            `toml:"dependencies"`
	Index        map[string]any            `toml:"pypi-dependencies"`
	Target       map[string]map[string]any `toml:"target"`
}

// ReadPixi reads a pixi.toml, or the [tool.pixi] of a pyproject.toml: its packages in
// pip's names, its Python and its CUDA. Its features are followed as far as they are the default
// environment's; of the others one that has the torch which the rest has not, and the rest is noted.
func ReadPixi(content []byte, name string) (*Environment, error) {
	type tables struct {
		pixiTables
		Feature      map[string]pixiTables `toml:"feature"`
		Environments map[string]any        `toml:"environments"`
	}
	var d struct {
		tables
		Tool struct {
			Pixi tables `toml:"pixi"`
		} `toml:"tool"`
	}
	if err := unmarshal(content, &d); err != nil {
		return nil, fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "toml: "))
	}
	t := say.Either(path.Base(name) == "pyproject.toml", d.Tool.Pixi, d.tables)
	e := &Environment{}
	err := e.pixi(t.pixiTables, name)
	usual := t.Environments["default"]
	installed := text.Each(slices.Concat(anyList(usual), anyList(table(usual)["features"])), str)
	rank := func(feature string) int { // of those that have a torch, the one for a GPU goes first
		return say.Either(slices.Contains(installed, feature), 100, len(gpuFeature().FindString(feature)))
	}
	features := slices.SortedStableFunc(slices.Values(sortedKeys(t.Feature)), func(a, b string) int { return cmp.Compare(rank(b), rank(a)) })
	for _, feature := range features {
		part, all := &Environment{}, slices.Contains(installed, feature)
		if err != nil || !all && (e.Asks("torch") || part.pixi(t.Feature[feature], name) != nil || !part.Asks("torch")) {
			continue
		}
		err, features = e.pixi(t.Feature[feature], name), slices.DeleteFunc(slices.Clone(features), func(other string) bool { return other == feature })
		e.Notes = append(e.Notes, say.All(say.If(!all, fmt.Sprintf("%s: torch stands in its feature %s, which is followed", name, text.Escape(feature))))...)
	}
	if len(features) > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%s: what its features ask for is not followed: %s", name, text.Cut(strings.Join(features, ", "), 200)))
	}
	return e, err
}

// gpuFeature is a name of a feature that is for a GPU.
var gpuFeature = lazy.Regexp(`(?i)cuda|gpu`)

// pixi adds what a table of pixi asks for.
func (e *Environment) pixi(t pixiTables, name string) error {
	lists := []map[string]any{t.Dependencies}
	for _, platform := range sortedKeys(t.Target) {
		if more, ok := t.Target[platform]["dependencies"].(map[string]any); ok && strings.HasPrefix(platform, "linux") {
			lists = append(lists, more)
		}
	}
	for _, list := range lists {
		for _, n := range sortedKeys(list) {
			if err := e.add(n+" "+versionOf(list[n]), name); err != nil {
				return err
			}
		}
	}
	r := reader{p: &e.Project, name: name}
	for _, n := range sortedKeys(t.Index) {
		where, _ := placeOf(table(t.Index[n]))
		if n == "torch" {
			e.Notes = append(e.Notes, fmt.Sprintf("%s: torch stands among its pypi-dependencies: `pixi install` takes it from %s as it is",
				name, text.Escape(cmp.Or(str(table(t.Index[n])["index"]), where, "the default index"))))
		}
		if where == "" {
			r.lenient([]string{n + strings.TrimPrefix(versionOf(t.Index[n]), "*")}, "pypi-dependencies")
		}
	}
	return r.err
}

// listed is what stands in a list, or alone.
func listed(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

func table(v any) map[string]any { m, _ := v.(map[string]any); return m }

// versionOf is the version of one of pixi's dependencies, which is written alone or in a
// table.
func versionOf(v any) string {
	return cmp.Or(str(v), str(table(v)["version"]))
}

// Asks reports whether a package is among the requirements.
func (p *Project) Asks(name string) bool { return pep508.Asks(p.Requirements, name) }

// Lists reports whether a package is among the requirements, or comes below them.
func (p *Project) Lists(name string) bool { return p.Asks(name) || pep508.Asks(p.Below, name) }

// MinorPython is a demand on Python by the minor releases that packages are made for:
// ==3.7.13 of one patch release becomes ==3.7.*.
func MinorPython(spec string) string {
	var out []string
	for clause := range strings.SplitSeq(spec, ",") {
		v, exact := strings.CutPrefix(strings.ReplaceAll(clause, " ", ""), "==")
		if parts := strings.Split(v, "."); exact && len(parts) > 2 {
			clause = "==" + parts[0] + "." + parts[1] + ".*"
		}
		out = append(out, strings.TrimSpace(clause))
	}
	return strings.Join(out, ",")
}
