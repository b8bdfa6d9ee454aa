package project

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// mostFolders bounds what is read of a project's folders: two links to their own folder have
// a way to it for every number.
const mostFolders = 200

// Local installs in place what the followed files take from folders, with what that requires:
// members of uv's workspace, paths, `-e ./part`. A project of pixi names no file here.
func (w *Wish) Local(t *plan.Target, elsewhere bool) {
	for _, file := range w.Files {
		p := wishes(file)
		all := members(p, filepath.Dir(file))
		seen := map[string]bool{filepath.Dir(file): p.Name != ""} // one may take another, or itself with an extra
		for parts := []*pyproject.Project{p}; len(parts) > 0; parts = parts[1:] {
			parts = append(parts, w.local(parts[0], all, seen, t, elsewhere)...)
		}
	}
}

// local is Local of what one file says, and returns what the folders that it names say; members
// are the folders of its workspace, by their packages.
func (w *Wish) local(p *pyproject.Project, members map[string]string, seen map[string]bool, t *plan.Target, elsewhere bool) (parts []*pyproject.Project) {
	for _, k := range p.Places {
		where, extras := Extras(strings.TrimPrefix(k.Where, "file://"))
		dir := say.Either(filepath.IsAbs(where), where, filepath.Join(k.Dir, where))
		if k.Where == "" {
			dir = members[k.Package]
		}
		if q, ok := xslices.Find(p.Requirements, func(q pep508.Requirement) bool { return q.Name == k.Package && len(q.Extras) > 0 }); ok {
			extras = "[" + strings.Join(q.Extras, ",") + "]"
		}
		here := cmp.Or(dir, k.Package) + extras
		if seen[here] || len(seen) > mostFolders {
			continue
		}
		seen[here] = true
		way, err := filepath.Rel(cmp.Or(w.Dir, "."), dir)
		part := packaging(dir, extras, &pyproject.Project{Requirements: slices.Concat(p.Requirements, w.documented)})
		at := text.Escape(k.From) + " takes " + text.Escape(cmp.Or(k.Package, k.Where)) + " from a folder"
		switch {
		case !k.Local():
			continue
		case k.Marker != "", dir == "" || err != nil, len(takesToBuild(part)) > 0 || part.Unversioned, w.Home != "" && !filepath.IsLocal(way):
			w.Said = append(w.Said, at+" that is not followed, and it is asked of no index: `python -m pip install` in the environment installs it")
			continue
		case part.Name == "" && !part.Builds:
			w.Said = append(w.Said, at+", "+text.Escape(dir)+", where nothing lies that can be installed; it is asked of no index")
			continue
		}
		w.documented = append(w.documented, part.Requirements...)
		if way != "." || w.Dir == "" { // the project itself is installed as it asks
			t.Members = xslices.Add(t.Members, w.placed(way, elsewhere))
		}
		parts = append(parts, &part)
	}
	return parts
}

// Packaged are the files below a project's folder that say how what lies there is packaged, and
// its own lock.
func (w *Wish) Packaged(dir string) []string {
	out := []string{"uv.lock"}
	for _, file := range w.Files {
		for _, member := range members(wishes(file), filepath.Dir(file)) {
			if way, err := filepath.Rel(dir, filepath.Join(member, "pyproject.toml")); err == nil && filepath.IsLocal(way) {
				out = append(out, filepath.ToSlash(way))
			}
		}
	}
	return xslices.Filter(out, func(name string) bool { return IsFile(filepath.Join(dir, name)) })
}

// placed is the name of a folder of the project where the plan is carried out.
func (w *Wish) placed(way string, elsewhere bool) string {
	dir := filepath.Join(cmp.Or(w.Home, w.Dir, "."), way)
	if full, err := filepath.Abs(dir); err == nil && !elsewhere {
		return full
	}
	return say.Either(filepath.IsAbs(dir), dir, "./"+filepath.ToSlash(dir))
}

// members are the folders of the workspace of a project in dir, by the names of their packages.
func members(p *pyproject.Project, dir string) map[string]string {
	out := map[string]string{}
	for _, pattern := range p.Members {
		found, _ := fs.Glob(os.DirFS(dir), strings.TrimPrefix(pattern, "./")) // a malformed one finds nothing
		for _, way := range found {
			member := filepath.Join(dir, way)
			if info, err := os.Stat(member); err == nil && info.IsDir() && len(out) < mostFolders {
				out[machine.NormalName(packaging(member, "", &pyproject.Project{}).Name)] = member
			}
		}
	}
	return out
}
