package project

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/planning"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// wishFiles say what a project wants, the one that is followed first. One that names torch
// goes before one that does not.
var wishFiles = []string{"requirements.txt", "pyproject.toml", "environment.yml", "environment.yaml", "setup.cfg", "setup.py"}

// packagings say how a project is built.
var packagings = []string{"pyproject.toml", "setup.cfg", "setup.py"}

// Follow follows what the project in a directory says: its requirements, its Python, its
// environment, and its lock. elsewhere: on another machine.
func (w *Wish) Follow(dir string, t *plan.Target, elsewhere bool) error {
	w.Dir = dir
	followed := PixiFile(dir)
	if followed != "" && w.Manager == "" {
		w.Manager = "pixi"
		if len(w.Arguments) == 0 { // what else the project wants, it says itself
			w.Arguments = []string{"torch"}
		}
	} else {
		followed = w.followOwnLock(dir)
	}
	if w.Extras != "" && followed != "" {
		var err error
		if followed, err = definer(dir, w.Extras); err != nil {
			return err
		}
	}
	document := spoken(dir)
	documented := w.followDocument(dir, followed, document)
	installs := w.installProject(dir, followed, t, elsewhere)
	t.Closure = w.unlisted(dir, followed, documented != "" && document.line.Torch() != "") || t.Closure
	w.imports(dir, followed, document, t)
	switch {
	case followed == "" && documented == "":
		return w.sources(dir, t, document)
	case followed == "":
		w.Read = documented
		return nil
	case !DemandsItself(w.Manager):
		w.Files = append(w.Files, filepath.Join(dir, followed)+w.Extras)
	}
	w.Read = strings.Replace(w.whatWasRead(dir, followed, documented), followed, followed+w.Extras, 1)
	w.Said = slices.Concat(w.Said, document.beside(dir, followed, w.documented), inExtras(dir, followed+w.Extras),
		document.beyond(w), w.projectsBelow(followed), missingModules(dir))
	return installs
}

// unlisted reports whether nothing lists what a project needs, and so its sources are asked: a
// line that installs some tool is no list, and neither is a setup.py without requirements.
func (w *Wish) unlisted(dir, followed string, documented bool) bool {
	if documented || DemandsItself(w.Manager) || followed != "" && !silentProject(dir, followed) {
		return false
	}
	w.Said = append(w.Said, say.All(say.With("", followed, " asks for no package: what its sources import is asked for"))...)
	return true
}

// sources follows what a project's sources import, where no file says what it asks for, with
// the torch that conda installs in its documents.
func (w *Wish) sources(dir string, t *plan.Target, d *speech) error {
	if len(listsBelow(dir)) > 0 || IsFile(filepath.Join(dir, "Pipfile")) || !slices.ContainsFunc(t.Imported, func(m plan.Imported) bool { return m.Package == "torch" }) {
		return nothingToFollow(dir)
	}
	w.Read = "what its sources import: no file says what it asks for" + say.With(", ", w.pinned(d, d.packages(dir)), "")
	return nil
}

// Extras tells a folder from the extras of its project, as pip takes them: `.[dev]`.
func Extras(arg string) (dir, extras string) {
	if at := strings.LastIndexByte(arg, '['); at > 0 && strings.HasSuffix(arg, "]") {
		return arg[:at], arg[at:]
	}
	return arg, ""
}

// definer is the file of a project's packaging that defines all of some extras.
func definer(dir, extras string) (name string, err error) {
	for _, name := range packagings {
		_, bad := Read(filepath.Join(dir, name) + extras)
		if bad == nil {
			return name, nil
		}
		if err == nil || !IsFile(filepath.Join(dir, "pyproject.toml")) {
			err = bad
		}
	}
	return "", err
}

// followOwnLock takes over what the project's own tool locked, and returns the file that is
// followed: the one that the lock was made from, where there is a lock.
func (w *Wish) followOwnLock(dir string) (followed string) {
	for _, name := range pyproject.OwnLocks {
		path := filepath.Join(dir, name)
		if !IsFile(path) || !IsFile(filepath.Join(dir, "pyproject.toml")) || silentProject(dir, "pyproject.toml") {
			continue
		}
		content, err := readBounded(path, pyproject.MaxOwnLock)
		if err == nil {
			w.Lock, err = pyproject.ReadOwnLock(content, name)
		}
		if err != nil {
			w.Said = append(w.Said, name+" is not followed: "+text.Escape(err.Error()))
		} else if asked := w.Lock.Older(wishes(filepath.Join(dir, "pyproject.toml")).Requirements); asked != "" {
			w.Lock, w.Said = nil, append(w.Said, fmt.Sprintf("%s is not followed: it is older than pyproject.toml, which asks for %s", name, text.Escape(asked)))
		}
		return "pyproject.toml"
	}
	return FirstWish(dir)
}

// DemandsItself: a project of this manager says in its own file what conda's channels
// are to bring.
func DemandsItself(manager string) bool {
	m, _ := managers.Find(manager)
	return m.Project() && m.Channels != nil
}

// FirstWish is the file of a project that is followed: of those that name torch the first that
// its own documents name, else the first of them, else the first that says anything; "" there is
// none. What they install from a list for pip goes before an environment that they never name.
func FirstWish(dir string) string {
	torch, first, silent := "", "", ""
	documents := spoken(dir)
	for _, name := range candidates(dir) {
		p, err := Read(filepath.Join(dir, name))
		switch {
		case err != nil:
			first = cmp.Or(first, name) // what is wrong with it is said where it is read
		case p.Silent, name == "setup.cfg" && len(p.Requirements) == 0:
		case asksNothing(p):
			silent = cmp.Or(silent, name)
		case p.Asks("torch") && documents.names(name):
			return name
		case p.Asks("torch") && !(isEnvironment(name) && documents.names(wishFiles[0])):
			torch = cmp.Or(torch, name)
		default:
			first = cmp.Or(first, name)
		}
	}
	return cmp.Or(torch, first, silent)
}

// candidates are the files of a project's directory that may say what it wants: those of
// the usual names, else those that are like them.
func candidates(dir string) (out []string) {
	out = xslices.Filter(wishFiles, func(name string) bool { return IsFile(filepath.Join(dir, name)) })
	if slices.ContainsFunc(out, func(name string) bool { return !strings.HasPrefix(name, "setup") && !silentProject(dir, name) }) {
		return out
	}
	return append(others(dir), out...)
}

// silentProject reports whether a file asks for nothing, and so leaves it to another one.
func silentProject(dir, name string) bool {
	p, err := Read(filepath.Join(dir, name))
	return err == nil && (p.Silent || asksNothing(p))
}

// asksNothing reports whether a file was read and names no package.
func asksNothing(p *pyproject.Project) bool {
	return len(p.Requirements)+len(p.TorchIn)+len(p.Places) == 0
}

// settings reports whether a file of conda's form names nothing that is installed.
func settings(p *pyproject.Project) bool { return asksNothing(p) && len(p.Below) == 0 }

// others are the files in a project's directory, and in the usual folder of it, that list
// requirements under another name.
func others(dir string) (out []string) {
	for _, pattern := range []string{"requirements_versions.txt", "requirements[-_]linux.txt", "requirements*.txt", "requirements/requirements.txt",
		"requirements/base.txt", "requirements/*.txt", "*env*.y*ml", "conda*.y*ml", "env*/*.y*ml"} {
		found, _ := fs.Glob(os.DirFS(dir), pattern) // each is well-formed
		for _, name := range found {
			path := filepath.Join(dir, name)
			if IsFile(path) && !slices.Contains(wishFiles, name) && (!isEnvironment(name) || !settings(wishes(path))) {
				out = xslices.Add(out, name)
			}
		}
	}
	return out
}

// namedBy are the files that the followed one names, which are followed too.
func namedBy(dir, followed string) (nested []string) {
	p := wishes(filepath.Join(dir, followed))
	from := text.Each(p.Requirements, func(q pep508.Requirement) string { return q.From })
	for _, name := range append(from, text.Each(p.Places, func(place pyproject.Place) string { return place.From })...) {
		name, _, _ = strings.Cut(strings.TrimPrefix(name, filepath.Join(dir, "x")[:len(filepath.Join(dir, "x"))-1]), ":")
		if name = filepath.ToSlash(name); name != followed {
			nested = xslices.Add(nested, name)
		}
	}
	return nested
}

// whatWasRead says which files of a project were read, and which lie there and were not
// followed, with why.
func (w *Wish) whatWasRead(dir, followed, documented string) string {
	own := w.Lock
	said := followed + say.With(", ", documented, "")
	if documented == "" && own != nil {
		said += ", " + own.Name
	}
	var left []string
	nested := namedBy(dir, followed)
	said += say.With(", ", strings.Join(say.Few(nested, 6, "%d more"), ", "), "")
	for _, name := range append(slices.Clone(wishFiles), others(dir)...) {
		if name != followed && IsFile(filepath.Join(dir, name)) && !slices.Contains(nested, name) {
			followedToo := slices.ContainsFunc(w.documented, func(q pep508.Requirement) bool { return strings.HasPrefix(q.From, filepath.Join(dir, name)+":") })
			if python := pythonOf(dir, name); python != "" || followedToo {
				said += ", " + name + say.With(" (Python ", python, ")")
			} else {
				left = append(left, name)
			}
		}
	}
	hint := say.If(len(left) > 0, " (`-r FILE` follows one instead)") // it takes no lock
	for _, name := range append(slices.Clone(pyproject.OwnLocks), "pixi.lock", "conda-lock.yml", "Pipfile", "Pipfile.lock") {
		if IsFile(filepath.Join(dir, name)) && (own == nil || name != own.Name) {
			left = xslices.Add(left, name)
		}
	}
	if text, err := ReadFile(filepath.Join(dir, ".python-version")); err == nil && pyproject.PythonVersion(text) != "" {
		said += ", .python-version"
	}
	return said + say.With("; not followed: ", strings.Join(say.Few(left, 6, "%d more"), ", "), hint)
}

// OtherList names the list beside the one that torch stands in, or the packaging, that fits where
// that does not, with the project's further ones: what it keeps for older drivers and other GPUs.
func (w *Wish) OtherList(q planning.Question) []string {
	of := func(r pep508.Requirement) string { return strings.Split(r.From, ":")[0] }
	asked := q.Request.Requirements
	i := slices.IndexFunc(asked, func(r pep508.Requirement) bool { return r.Name == "torch" && r.From != "" })
	if w.Dir == "" || i < 0 {
		return nil
	}
	rest := xslices.Filter(asked, func(r pep508.Requirement) bool { return of(r) != of(asked[i]) && r.From != "" })
	files, runs := xslices.Once(text.Each(rest, of)), q.Runs()
	if isEnvironment(of(asked[i])) { // what else conda's file says is its own
		q.Request.CUDA, q.Request.Manager = say.If(!w.FileCUDA, q.Request.CUDA), say.If(!w.ByFile, q.Request.Manager)
		q.Request.ProjectPython = projectPython(w.Dir)
	}
	for _, name := range append(others(w.Dir), packagings...) {
		path := filepath.Join(w.Dir, name)
		p := wishes(path)
		if slices.Contains(append(files, of(asked[i])), path) || !p.Asks("torch") {
			continue
		}
		q.Request.Requirements = slices.Concat(p.Requirements, rest)
		if c := runs(q.Request); c != nil && c.Build != "cpu" {
			return []string{fmt.Sprintf("`-r %s` fits: torch %s, build %s", strings.Join(append([]string{path}, files...), " -r "), c.Torch, c.Build)}
		}
	}
	return nil
}

// Loosened says what comes where the version of torch that a file asks for is set aside, with
// the CUDA of that file.
func (w *Wish) Loosened(q planning.Question) []string {
	pinned := slices.ContainsFunc(q.Request.Requirements, func(r pep508.Requirement) bool { return r.Name == "torch" && r.From != "" && !r.Spec.IsZero() })
	loose, err := w.relaxed(slices.Clone(q.Request.Requirements), []string{"torch"})
	if q.Request.Requirements = loose; !pinned || err != nil {
		return nil
	}
	if w.FileCUDA {
		q.Request.CUDA = ""
	}
	if c := q.Runs()(q.Request); c != nil {
		return []string{fmt.Sprintf("`--relax torch` sets the file's version aside: then torch %s, build %s", c.Torch, c.Build)}
	}
	return nil
}

// missingModules says which submodules of a project are not here: what they ask for is not
// read, and git was told to bring none where envfix cloned.
func missingModules(dir string) (said []string) {
	content, _ := ReadFile(filepath.Join(dir, ".gitmodules")) // without one it has none
	for line := range strings.Lines(string(content)) {
		key, at, _ := strings.Cut(line, "=")
		if at = strings.TrimSpace(at); strings.TrimSpace(key) != "path" || at == "" || len(said) == 6 {
			continue
		}
		if there, _ := os.ReadDir(filepath.Join(dir, at)); len(there) == 0 {
			said = append(said, "its submodule "+text.Cut(text.Escape(at), 80)+" is not here, and what that asks for was not read: `git submodule update --init` brings it")
		}
	}
	return said
}

// inExtras says in which extras of the followed file torch stands, where it does not ask
// for torch itself.
func inExtras(dir, followed string) []string {
	p := wishes(filepath.Join(dir, followed))
	if p.Asks("torch") || len(p.TorchIn) == 0 {
		return nil
	}
	extras := text.Each(p.TorchIn, func(c pyproject.Carrier) string { return fmt.Sprintf("%s (%s)", c.Group, c.Text) })
	return []string{fmt.Sprintf("torch stands only in extras of %s: %s; `-r '%s[%s]'` takes one", followed, strings.Join(say.Few(extras, 6, "%d more"), ", "),
		filepath.Join(dir, followed), p.TorchIn[0].Group)}
}

// nothingToFollow is the error for a directory that says nothing that can be read: it
// names what is there.
func nothingToFollow(dir string) error {
	e := fail.Wrong(fmt.Sprintf("%s holds neither %s", dir, strings.Join(wishFiles[:3], " nor ")),
		"`envfix plan` without it plans for torch alone")
	if d := spoken(dir); d.line.Line > 0 {
		e.Details = append(e.Details, fmt.Sprintf("%s:%d installs: %s", d.where, d.line.Line, d.line.Text))
		e.Hints = append([]string{"`envfix plan " + text.Command(d.line.Words...) + "` plans for what that line names"}, e.Hints...)
	}
	for _, name := range append([]string{"Pipfile"}, documentsOf(dir)...) {
		if IsFile(filepath.Join(dir, filepath.FromSlash(name))) && !strings.HasPrefix(strings.ToUpper(name), "README") {
			e.Details = append(e.Details, name+" is there, and envfix does not follow it: name its packages, such as `envfix plan torch torchvision`")
		}
	}
	lists := listsBelow(dir)
	if len(lists) > 0 {
		e.Details = append(e.Details, strings.Join(say.Few(lists, 24, "%d more"), ", ")+say.Either(len(lists) == 1, " lies", " lie")+" a folder down")
		e.Hints = append([]string{"`envfix plan -r " + lists[0] + "` follows it"}, e.Hints...)
	}
	return e
}

// listsBelow are the files a folder down that say what a project there wants, one that asks for
// torch first.
func listsBelow(dir string) []string {
	below, _ := fs.Glob(os.DirFS(dir), "*/*") // the pattern is well-formed
	lists := xslices.Filter(below, func(inner string) bool {
		name := filepath.Base(inner)
		return slices.Contains(wishFiles, name) || strings.HasPrefix(name, "requirements") && strings.HasSuffix(name, ".txt")
	})
	if i := slices.IndexFunc(lists, func(inner string) bool { return wishes(filepath.Join(dir, inner)).Asks("torch") }); i > 0 {
		lists[0], lists[i] = lists[i], lists[0]
	}
	return text.Each(lists, func(inner string) string { return filepath.ToSlash(filepath.Join(dir, inner)) })
}

// projectsBelow names the project a folder down that asks for torch, where what is followed does not.
func (w *Wish) projectsBelow(followed string) []string {
	p := wishes(filepath.Join(w.Dir, followed) + w.Extras)
	own := slices.Collect(maps.Values(members(p, w.Dir)))
	lists := slices.DeleteFunc(listsBelow(w.Dir), func(name string) bool { return slices.Contains(own, filepath.Dir(name)) })
	if len(lists) == 0 || p.Asks("torch") || len(p.TorchIn) > 0 || slices.ContainsFunc(w.documented, family) || !wishes(lists[0]).Asks("torch") {
		return nil
	}
	nested := slices.DeleteFunc(lists, func(name string) bool { return !slices.Contains(packagings, filepath.Base(name)) && name != lists[0] })
	return []string{fmt.Sprintf("%s asks for no torch, and %s, a folder down, does: `envfix plan -r %s` follows that%s", followed, lists[0], lists[0],
		say.With("; other projects are ", strings.Join(say.Few(nested[1:], 4, "%d more"), ", "), ""))}
}

// Unfollowed says that a project's wishes lie here and were not asked for; "" there
// are none, or other wishes were named.
func (w *Wish) Unfollowed() string {
	if len(w.Arguments)+len(w.Files) > 0 || w.Dir != "" {
		return ""
	}
	name, _ := xslices.Find(wishFiles, IsFile)
	return say.If(name != "", fmt.Sprintf("found %s: `envfix plan .` follows it, and so does `-r %s`", name, name))
}

// OnlyFiles refuses a folder in which a pipe or a device has the name of a project's file:
// what is asked for here cannot be told, and who opens it may wait for ever.
func OnlyFiles(dir string) error {
	for _, name := range slices.Concat(wishFiles, pyproject.OwnLocks, []string{"pixi.toml", "pylock.toml", ".python-version"}) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return fail.Wrong(name+": it is not a regular file", "take it away: it stands where a project says what it asks for")
		}
	}
	return nil
}

// IsFile reports whether a regular file is there.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// IsDir reports whether an argument names a project by its directory.
func IsDir(arg string) bool {
	info, err := os.Stat(arg)
	// A bare word is a package, whatever directory is called so: torch in its clone.
	return err == nil && info.IsDir() && (arg == "." || arg == ".." || strings.ContainsAny(arg, `/\`))
}
