package pyproject

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// An Opener returns a file beside the one that is read, by its slashed path.
type Opener func(path string) ([]byte, error)

// packaging are the arguments that say what setuptools packs: without one it looks for it.
var packaging = []string{"packages", "py_modules", "ext_modules", "package_dir"}

// ReadSetup reads a setup.py by its text: install_requires, extras_require and
// python_requires, in lists, in names that stand for them, and in the files that the
// expressions name. groups are the extras to include. Its error is of a file that it
// names; what its code computes is noted.
func ReadSetup(content []byte, name string, open Opener, groups ...string) (*Project, error) {
	prog := readProgram(string(text.UTF8(content)))
	asked := prog.setupCall()
	p := &Project{Builds: len(asked) > 0}
	for _, i := range Imports(content) {
		if module, _, _ := strings.Cut(i.Module, "."); module == "torch" || !i.Guarded && !i.Inner {
			p.BuildImport = xslices.Add(p.BuildImport, i.Module)
		}
	}
	p.Laid = strings.Contains(string(content), "**") || slices.ContainsFunc(packaging, func(key string) bool { return asked[key] != nil })
	r := reader{p: p, name: name}
	if settings := path.Join(path.Dir(name), "settings.ini"); open != nil && strings.Contains(string(content), "settings.ini") {
		if ini, err := open(settings); err == nil {
			return p, nbdev(p, readINI(string(text.UTF8(ini)))["DEFAULT"], settings, groups)
		}
	}
	p.Name = bare(prog, asked["name"])
	p.Python = bare(prog, asked["python_requires"])
	found := func(e span) finding {
		f := finding{program: prog, keys: map[string]bool{}}
		f.expression(e, false)
		return f
	}
	take := func(e span, where string) error {
		f := found(e)
		if f.computed {
			p.Notes = append(p.Notes, fmt.Sprintf("%s: a part of %s is computed by its code, which is not run", name, where))
		}
		r.lenient(f.texts, where)
		return r.files(f.files, open)
	}
	if err := take(asked["install_requires"], "install_requires"); err != nil {
		return nil, err
	}
	texts := func(e span) []string { return found(e).texts }
	return p, extras(&r, prog.dictionary(asked["extras_require"], map[string]bool{}), "extras_require.", groups, texts, take)
}

// bare is the single text that an expression stands for; "" it is not known.
func bare(p *program, e span) string {
	f := finding{program: p, keys: map[string]bool{}}
	if f.expression(e, true); len(f.texts) == 0 {
		return ""
	}
	return strings.TrimSpace(f.texts[0])
}

// nbdev takes what the setup.py of nbdev's projects takes from their settings.
func nbdev(p *Project, settings map[string]string, name string, groups []string) error {
	words := func(key string) []string {
		return slices.DeleteFunc(strings.Fields(settings[key]), func(word string) bool { return word == `\` })
	}
	r := reader{p: p, name: name}
	p.Name = settings["lib_name"]
	if v := settings["min_python"]; v != "" {
		p.Python = ">=" + v
	}
	r.lenient(append(words("requirements"), words("pip_requirements")...), "requirements")
	take := func(lines []string, where string) error { r.lenient(lines, where); return nil }
	same := func(lines []string) []string { return lines }
	return extras(&r, map[string][]string{"dev": words("dev_requirements")}, "", groups, same, take)
}

// extras lists the extras of a project, and takes those that are asked for. lines are what
// one of them asks for.
func extras[T any](r *reader, of map[string]T, where string, asked []string, lines func(T) []string, take func(T, string) error) error {
	declare(r, of, lines)
	for _, extra := range asked {
		e, ok := of[extra]
		if !ok {
			return fmt.Errorf("%s: there is no extra %q", r.name, extra)
		}
		if err := take(e, where+extra); err != nil {
			return err
		}
	}
	return r.err
}

// declare lists the extras of a project, and those that ask for torch.
func declare[T any](r *reader, of map[string]T, lines func(T) []string) {
	for _, extra := range sortedKeys(of) {
		r.p.Extras = append(r.p.Extras, machine.NormalName(extra))
		r.p.Groups = append(r.p.Groups, extra)
		if q := namesTorch(lines(of[extra])); q != "" {
			r.p.TorchIn = append(r.p.TorchIn, Carrier{extra, q})
		}
	}
}

// lenient adds what is a requirement among the strings of a program.
func (r *reader) lenient(lines []string, where string) {
	var good []string
	for _, l := range lines {
		if q, err := pep508.Parse(strings.TrimSpace(l), ""); err == nil && q.Name != "" {
			good = append(good, strings.TrimSpace(l))
		} else {
			r.p.Notes = append(r.p.Notes, fmt.Sprintf("%s: %s: %q is no requirement and is not followed", r.name, where, text.Cut(l, 60)))
		}
	}
	r.add(good, where)
}

// files adds what the requirements files ask for that a program reads; the first of each
// list of candidates that is there.
func (r *reader) files(candidates [][]string, open Opener) error {
	for _, names := range candidates {
		for _, n := range names {
			at := path.Join(path.Dir(r.name), n)
			if open == nil || path.IsAbs(n) || strings.HasPrefix(path.Clean(n), "..") {
				continue
			}
			content, err := open(at)
			if err != nil {
				continue
			}
			q, err := ReadRequirements(content, at, open)
			if err != nil {
				return err
			}
			r.p.join(q)
			break
		}
	}
	return nil
}

// join adds what another file of the same project says.
func (p *Project) join(q *Project) {
	p.Requirements = append(p.Requirements, q.Requirements...)
	p.Indexes, p.Places = append(p.Indexes, q.Indexes...), append(p.Places, q.Places...)
	p.Notes, p.Refused = append(p.Notes, q.Notes...), append(p.Refused, q.Refused...)
	p.Limits, p.Hashes, p.Options = append(p.Limits, q.Limits...), append(p.Hashes, q.Hashes...), append(p.Options, q.Options...)
	p.Hashed = p.Hashed || q.Hashed
}

// setupCall returns the arguments of the call of setup().
func (p *program) setupCall() map[string]span {
	out := map[string]span{}
	for i := range p.all {
		if !p.all.is(i, "setup") || !p.all.is(i+1, "(") || p.all.is(i-1, "def") {
			continue
		}
		args, _ := p.all.parts(i + 1)
		for _, a := range args {
			switch {
			case a.is(1, "="):
				out[a[0].Text] = a[2:]
			case a.is(0, "**"):
				maps.Copy(out, p.dictionary(a[1:], map[string]bool{}))
			}
		}
	}
	return out
}

// dictionary is what an expression that stands for a dict has at its keys; seen are the
// names on the way.
func (p *program) dictionary(e span, seen map[string]bool) map[string]span {
	out := map[string]span{}
	if len(e) == 0 {
		return out
	}
	switch {
	case e.is(0, "{"), e.is(0, "dict") && e.is(1, "("):
		open := say.Either(e.is(0, "dict"), 1, 0)
		entries, _ := e.parts(open)
		for _, entry := range entries {
			switch {
			case len(entry) > 2 && (entry.is(1, ":") || entry.is(1, "=")):
				out[entry[0].Text] = entry[2:]
			case entry.is(0, "**"):
				maps.Copy(out, p.dictionary(entry[1:], seen))
			}
		}
	case e[0].Kind == 'n' && !seen[e[0].Text]: // else it is made of itself
		seen[e[0].Text] = true
		for _, s := range p.named[e[0].Text] {
			maps.Copy(out, p.dictionary(s, seen))
		}
		maps.Copy(out, p.keyed[e[0].Text])
	}
	return out
}

// A finding is what an expression leads to.
type finding struct {
	*program
	texts    []string        // strings of lists
	files    [][]string      // names of files that are read; each with those that it may mean, the likeliest first
	computed bool            // a part of it is not known
	seen     []string        // names on the way
	keys     map[string]bool // what was selected on the way: table["key"]
}

// expression walks an expression; bare strings count where a single text is meant.
func (f *finding) expression(e span, bare bool) {
	quiet := []bool{!bare} // outside of all brackets, and in each open one: whether strings do not count
	for i := 0; i < len(e); i++ {
		t := e[i]
		switch {
		case t.Kind == 's' || t.Kind == 'f':
			f.text(e, i, quiet[len(quiet)-1])
		case e.is(i, "[") && (e.kind(i-1) == 'n' || e.is(i-1, "]", ")")):
			i = f.subscript(e, i)
		case nesting(t) > 0:
			quiet = append(quiet, t.Text == "(" && e.callee(i-1) && !f.funcs[e[i-1].Text])
		case nesting(t) < 0 && len(quiet) > 1:
			quiet = quiet[:len(quiet)-1]
		case t.Kind == 'n' && e.stands(i, len(quiet) > 1):
			f.name(t.Text, bare)
		}
	}
}

// callee reports whether what stands at i may be called.
func (s span) callee(i int) bool {
	keywords := []string{"in", "if", "else", "or", "and", "not", "return", "for"}
	return s.is(i, ")") || s.kind(i) == 'n' && !slices.Contains(keywords, s[i].Text)
}

// stands reports whether a name stands for what it was bound to: it is no attribute, no
// name of an argument, no table of which one entry is taken.
func (s span) stands(i int, nested bool) bool {
	return !s.is(i-1, ".") && !(nested && s.is(i+1, "=")) && !(s.is(i+1, "[") && s.kind(i+2) == 's')
}

// name goes on with what a name stands for.
func (f *finding) name(name string, bare bool) {
	if len(f.named[name]) == 0 || slices.Contains(f.seen, name) || len(f.seen) > 100 {
		return
	}
	f.seen = append(f.seen, name)
	for _, s := range f.named[name] {
		f.expression(s, bare)
	}
}

// text takes one string of an expression: the name of a file, or an entry of a list.
func (f *finding) text(e span, i int, quiet bool) {
	t := e[i]
	if t.Kind == 'f' {
		if t.Text = f.formatted(t.Text); t.Text == "" {
			f.computed = f.computed || !quiet
			return
		}
	}
	switch {
	case strings.HasSuffix(t.Text, ".txt") || strings.HasSuffix(t.Text, ".in"):
		names := []string{t.Text}
		if e.is(i-1, ",") && e.kind(i-2) == 's' { // os.path.join("requirements", "base.txt")
			names = []string{path.Join(e[i-2].Text, t.Text), t.Text}
		}
		f.files = append(f.files, names)
	case e.is(i+1, ".") && e.is(i+2, "split", "splitlines") && len(t.Text) > 2:
		f.texts = append(f.texts, strings.Fields(t.Text)...)
	case quiet || e.is(i+1, ":", ".", "%") || e.is(i-1, "==", "!=", "in", "%"):
	case strings.TrimSpace(t.Text) != "":
		f.texts = append(f.texts, t.Text)
	}
}

// formatted is an f-string whose names stand for one string each; "" it is not known.
func (f *finding) formatted(s string) string {
	for strings.Contains(s, "{") {
		before, rest, _ := strings.Cut(s, "{")
		name, after, ok := strings.Cut(rest, "}")
		known := f.named[name]
		if !ok || len(known) != 1 || len(known[0]) != 1 || known[0][0].Kind != 's' {
			return ""
		}
		s = before + strings.ReplaceAll(known[0][0].Text, "{", "") + after
	}
	return s
}

// subscript takes what name["key"] selects, and returns where it ends: the entry of that
// key, or of a table of requirements the one on that package.
func (f *finding) subscript(e span, i int) int {
	inner, end := e.parts(i)
	if len(inner) != 1 || len(inner[0]) != 1 || inner[0][0].Kind != 's' || e[i-1].Kind != 'n' {
		return end
	}
	key, table := inner[0][0].Text, e[i-1].Text
	at := table + "[" + key
	if f.keys[at] || len(f.keys) > 100 {
		return end // it is made of itself
	}
	f.keys[at] = true
	if entry, ok := f.dictionary(e[i-1:i], map[string]bool{})[key]; ok {
		f.expression(entry, false)
		return end
	}
	all := finding{program: f.program, keys: f.keys}
	all.name(table, false)
	for _, line := range all.texts {
		if q, err := pep508.Parse(line, ""); err == nil && q.Name == machine.NormalName(key) {
			f.texts = append(f.texts, line)
		}
	}
	return end
}

// A Carrier is an extra or a group that asks for torch.
type Carrier struct{ Group, Text string }

// namesTorch is the first of the requirements that is on torch; "" none.
func namesTorch(lines []string) string {
	line, _ := xslices.Find(lines, func(l string) bool {
		q, err := pep508.Parse(strings.TrimSpace(l), "")
		return err == nil && q.Name == "torch"
	})
	return strings.TrimSpace(line)
}

// ReadSetupCfg reads the [options] of a setup.cfg. groups are the extras to include.
func ReadSetupCfg(content []byte, name string, open Opener, groups ...string) (*Project, error) {
	ini := readINI(string(text.UTF8(content)))
	p := &Project{Python: strings.TrimSpace(ini["options"]["python_requires"]), Name: ini["metadata"]["name"]}
	p.Builds = p.Name != ""
	p.Laid = slices.ContainsFunc(packaging, func(key string) bool { return ini["options"][key] != "" })
	r := reader{p: p, name: name}
	take := func(value, where string) error {
		if file, ok := strings.CutPrefix(strings.TrimSpace(value), "file:"); ok {
			return r.files(text.Each(strings.Split(file, ","), func(n string) []string { return []string{strings.TrimSpace(n)} }), open)
		}
		r.lenient(lists(value), where)
		return nil
	}
	if err := take(ini["options"]["install_requires"], "options.install_requires"); err != nil {
		return nil, err
	}
	return p, extras(&r, ini["options.extras_require"], "options.extras_require.", groups, lists, take)
}

func lists(value string) []string {
	var out []string
	for l := range strings.Lines(value) {
		if l = strings.TrimSpace(withoutComment(strings.TrimSpace(l))); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// readINI reads the sections of a file as Python's configparser does.
func readINI(s string) map[string]map[string]string {
	out := map[string]map[string]string{}
	section, key := "", ""
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimSpace(line)
		switch {
		case bare == "" || bare[0] == '#' || bare[0] == ';':
		case (line[0] == ' ' || line[0] == '\t') && key != "":
			out[section][key] += "\n" + bare
		case bare[0] == '[':
			section, key = strings.Trim(bare, "[]"), ""
			if out[section] == nil {
				out[section] = map[string]string{}
			}
		default:
			at := strings.IndexAny(bare, "=:")
			if at < 0 || out[section] == nil {
				continue
			}
			key = strings.TrimSpace(bare[:at])
			out[section][key] = strings.TrimSpace(bare[at+1:])
		}
	}
	return out
}
