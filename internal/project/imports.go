package project

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"envfix/internal/closure"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// An undeclared module is imported by a project and brought by nothing that it asks for.
type undeclared struct {
	closure.Module
	Ask  []pep508.Requirement // what brings it, several by their markers; none: not known
	note string               // what else says so: the extra, or the file
}

// imports finds what the project's sources import, has it tried once it is installed, and
// asks with --closure for what nothing brings.
func (w *Wish) imports(dir, followed string, s *speech, t *plan.Target) {
	asked, _ := RequirementsOf(w.Arguments)                  // what is wrong with them is said where the request is read
	asked = append(asked, pep508.Requirement{Name: "torch"}) // it is installed in any case
	asked = append(asked, w.documented...)
	p := wishes(filepath.Join(dir, followed) + w.Extras)
	asked = slices.Concat(asked, p.Requirements, p.Below,
		text.Each(p.Places, func(place pyproject.Place) pep508.Requirement { return pep508.Requirement{Name: place.Package} }))
	others := sync.OnceValue(func() map[string]undeclared { return elsewhereAsked(dir, followed) })
	own := itself(dir)
	for _, m := range closure.Of(os.DirFS(dir), s.starts) {
		if slices.Contains(own, likeNamed(m)) { // package_dir may give its folders that name
			continue
		}
		w.Parts = append(w.Parts, m.Parts...)
		by, named := bringer(m, asked)
		t.Imported = append(t.Imported, plan.Imported{Module: m.Name, Package: by, Optional: m.Use == closure.Guarded,
			Aside: m.Use == closure.Aside, At: m.At, Parts: m.Begins[:min(len(m.Begins), mostParts)]})
		if named {
			continue
		}
		u := undeclared{Module: m}
		if q, err := pep508.Parse(by, m.At); err == nil {
			u.Ask = []pep508.Requirement{q}
		}
		names := append(slices.Clip(m.Distributions), likeNamed(m)) // the project itself asks for that one, elsewhere
		if i := slices.IndexFunc(names, func(name string) bool { return others()[name].note != "" }); i >= 0 {
			u.Ask, u.note = others()[names[i]].Ask, others()[names[i]].note
		} else if by == "" {
			u.note = say.With("", builder(dir, m.Name), " builds it")
		}
		w.Undeclared = append(w.Undeclared, u)
		if t.Closure {
			w.documented, asked = append(w.documented, u.closing()...), append(asked, u.closing()...)
		}
	}
}

// closing is what --closure asks for, for one module.
func (u undeclared) closing() []pep508.Requirement {
	if u.Use == closure.Guarded && u.note == "" {
		return nil
	}
	return u.Ask
}

// Closing is what --closure asks for besides, in its order.
func (w *Wish) Closing() (out []pep508.Requirement) {
	for _, u := range w.Undeclared {
		if more := u.closing(); len(more) > 0 && !slices.Contains(pep508.Names(out), more[0].Name) {
			out = append(out, more...)
		}
	}
	return out
}

// builder is the setup.py below a project's folder that names a module: of its own extensions, which
// no index has; "" none does.
func builder(dir, module string) string {
	name, _ := xslices.Find(below(dir, "setup.py"), func(name string) bool {
		content, _ := ReadFile(filepath.Join(dir, name)) // what cannot be read names nothing
		return strings.Contains(strings.ReplaceAll(string(content), "'", `"`), `"`+module+`"`)
	})
	return name
}

// below are the files of a pattern in a folder and up to three folders down.
func below(dir, pattern string) (names []string) {
	for range 4 {
		found, _ := fs.Glob(os.DirFS(dir), pattern) // it is well-formed
		names, pattern = append(names, found[:min(len(found), mostLists)]...), "*/"+pattern
	}
	return names
}

// ownPackages are the packages of a project that are called as it is, to be tried.
func ownPackages(dir string) (out []plan.Imported) {
	own := itself(dir)
	for _, pattern := range []string{"*/__init__.py", "src/*/__init__.py"} {
		found, _ := fs.Glob(os.DirFS(dir), pattern) // it is well-formed
		for _, name := range found {
			if module := path.Base(path.Dir(name)); slices.Contains(own, machine.NormalName(module)) {
				out = append(out, plan.Imported{Module: module, Package: "the project itself"})
			}
		}
	}
	return out
}

// bringer is the distribution that brings a module: one that is asked for, else the
// likeliest.
func bringer(m closure.Module, asked []pep508.Requirement) (name string, named bool) {
	for _, q := range asked {
		if slices.Contains(m.Distributions, q.Name) || q.Name == likeNamed(m) {
			return q.Name, true
		}
	}
	if len(m.Distributions) > 0 {
		name = m.Distributions[0]
	}
	return name, false
}

// likeNamed is the package that is called as a module is: it counts where the project asks
// for it, and is no guess then.
func likeNamed(m closure.Module) string { return machine.NormalName(m.Name) }

// elsewhereAsked are the packages that the extras of a project's files ask for, its files that
// are not followed, and the lists that lie in its folders.
func elsewhereAsked(dir, followed string) map[string]undeclared {
	out := map[string]undeclared{}
	take := func(p *pyproject.Project, note string) {
		for _, q := range p.Indexed() {
			if o := out[q.Name]; o.note == "" || o.note == note {
				out[q.Name] = undeclared{Ask: append(o.Ask, q), note: note}
			}
		}
	}
	for _, q := range spoken(dir).packages(dir) {
		take(&pyproject.Project{Requirements: []pep508.Requirement{q}}, q.From)
	}
	for _, name := range append(slices.Clone(wishFiles), others(dir)...) {
		if isEnvironment(name) {
			continue
		}
		p := wishes(filepath.Join(dir, name))
		if name != followed {
			take(p, name)
		}
		for _, group := range p.Groups {
			take(wishes(filepath.Join(dir, name)+"["+group+"]"), fmt.Sprintf("`%s` of %s", group, name))
		}
	}
	for _, name := range below(dir, "*requirements*.txt") {
		if name == followed || !strings.Contains(name, "/") { // those were taken above, in their versions
			continue
		}
		p := wishes(filepath.Join(dir, name))
		for i, q := range p.Requirements { // in no version: each of them is for a part of its own
			p.Requirements[i] = pep508.Requirement{Name: q.Name, Extras: q.Extras, Marker: q.Marker, Text: q.Name, From: q.From}
		}
		take(p, name)
	}
	return out
}

// mostLists bounds how many lists of a depth are read for what brings a module, mostParts how
// much of one module is tried.
const (
	mostLists = 60
	mostParts = 400
)

// Unasked says what a project imports and nothing brings; found are the versions of all
// that will be installed, where that is known. lacks: --closure adds what its sources need.
func (w *Wish) Unasked(found map[string]string, closed bool) (said []string, lacks bool) {
	var known [closure.Needed + 1][]string
	var unknown []string
	for _, u := range w.Undeclared {
		at := " (" + text.Escape(cmp.Or(u.note, u.At)) + ")"
		switch {
		case slices.ContainsFunc(append(slices.Clip(u.Distributions), likeNamed(u.Module)), func(name string) bool { return found[name] != "" }):
		case len(u.Ask) > 0 && (u.Use == closure.Guarded && u.note == "" || !closed):
			known[u.Use] = append(known[u.Use], u.Ask[0].Name+u.Ask[0].Spec.String()+at)
		case len(u.Ask) == 0 && u.Use != closure.Guarded:
			unknown = append(unknown, text.Escape(u.Name)+at)
		}
	}
	for _, k := range []struct {
		names  []string
		format string
	}{
		{known[closure.Needed], "its sources import what nothing that is followed asks for: %s; `--closure` adds that"},
		{known[closure.Aside], "its tests, demos and scripts import what nothing that is followed asks for: %s; `--closure` adds that"},
		{known[closure.Guarded], "its sources do without, where it is not there: %s"},
		{unknown, "it imports modules of which it is not known here what brings them: %s"},
	} {
		if len(k.names) > 0 {
			said = append(said, fmt.Sprintf(k.format, strings.Join(say.Few(k.names, 6, "%d more"), ", ")))
		}
	}
	return said, len(known[closure.Needed]) > 0 && !closed
}
