package project

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/managers"
	"envfix/internal/modules"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/xslices"
)

// installProject has the project installed where it says how it is built, with what its
// packaging requires beyond the list that is followed, as pip would.
func (w *Wish) installProject(dir, followed string, t *plan.Target, elsewhere bool) error {
	m, _ := managers.Find(w.Manager)
	asked, err := Read(filepath.Join(dir, followed) + w.Extras)
	if m.Project() || t.NoInstallProject || err != nil { // the error is reported where the request is read
		return nil
	}
	whole, side, why := packaging(dir, "", asked), strewn(dir), ""
	takes := takesToBuild(whole)
	switch {
	case !whole.Builds, len(whole.Requirements) > 0 && (asked.Hashed || isEnvironment(followed)): // the list is all that is to be there, or conda's
		return nil
	case whole.Unversioned:
		w.Said = append(w.Said, "the project itself is not installed: [project] of its pyproject.toml names no version, and no tool builds that")
		return nil
	case !whole.Laid && len(side) > 1 && !slices.Contains(side, "src"):
		why = "which of " + strings.Join(say.Few(side, 4, "%d more"), ", ") + " it is nothing says, and setuptools builds none of several; from its own folder all of it is imported"
	case len(takes) > 0:
		why = "to build it takes " + strings.Join(takes, " and ") + ", and for extensions " + say.If(slices.Contains(takes, "torch"), "nvcc of its CUDA and ") +
			"a C++ compiler; with the environment active " +
			"`python -m pip install --no-build-isolation --no-deps -e " + dir + "` does" + say.If(!t.WithPip, " (`--with-pip` brings pip)")
	default:
		t.Imported = append(t.Imported, ownPackages(dir)...)
		if t.Editable = cmp.Or(w.Home, dir); !elsewhere {
			t.Editable, err = filepath.Abs(t.Editable)
		}
	}
	w.documented = append(w.documented, whole.Requirements...)
	w.Said = append(w.Said, say.All(say.With("the project itself is not installed: ", why, ""))...)
	return err
}

// takesToBuild are the packages that a build of a project takes and that are not there while it is
// built apart: torch, which is to be the one that is chosen, and what its setup.py imports before
// a build system that names it could bring it.
func takesToBuild(p pyproject.Project) (takes []string) {
	named := slices.ContainsFunc(p.BuildNeeds, func(name string) bool { return name != "setuptools" && name != "wheel" })
	for _, m := range append([]string{say.If(slices.Contains(p.BuildNeeds, "torch"), "torch")}, p.BuildImport...) {
		if _, by := modules.Brought(m); len(by) > 0 && (by[0] == "torch" || !named && by[0] != modules.Python && !strings.HasPrefix(by[0], "setuptools")) {
			takes = xslices.Add(takes, by[0])
		}
	}
	return takes
}

// packaging is what the packaging of a folder says together, without what is asked for already.
// What a pyproject.toml says of the dependencies is all: no backend adds those of a setup.py.
func packaging(dir, extras string, asked *pyproject.Project) (whole pyproject.Project) {
	for _, name := range packagings {
		p := wishes(filepath.Join(dir, name) + extras)
		if name != packagings[0] && whole.Name != "" && !wishes(filepath.Join(dir, packagings[0])).Silent {
			p.Requirements = nil
		}
		whole.Requirements = append(whole.Requirements, xslices.Filter(p.Indexed(), func(q pep508.Requirement) bool { return !asked.Asks(q.Name) && !whole.Asks(q.Name) })...)
		whole.Builds, whole.Unversioned = whole.Builds || p.Builds, whole.Unversioned || p.Unversioned
		whole.BuildImport, whole.BuildNeeds = append(whole.BuildImport, p.BuildImport...), append(whole.BuildNeeds, p.BuildNeeds...)
		whole.Places, whole.Name = append(whole.Places, p.Places...), cmp.Or(whole.Name, p.Name)
		whole.Laid = whole.Laid || p.Laid
	}
	return whole
}

// leftOut are the folders and modules of a project's directory that setuptools packs for
// nobody: DEFAULT_EXCLUDE of its finders for a flat layout (setuptools/discovery.py).
var leftOut = lazy.Regexp(`(?i)^(ci|bin|docs?|documentation|manpages|news|changelog|tests?|unit_tests?|examples?|` +
	`scripts?|tools|utils?|python|build|dist|v?env|requirements|benchmarks?|exercises?|tasks|fabfile|site_scons|setup|conftest|toxfile|noxfile|pavement|dodo|` +
	`sconstruct|conanfile|manage|__.*)$`)

// identifier is what can be imported.
var identifier = lazy.Regexp(`^[A-Za-z]\w*$`)

// strewn are the folders, else the modules, that lie side by side in a directory of which
// setuptools is to find the packages by itself: it refuses to build more than one.
func strewn(dir string) (side []string) {
	entries, _ := os.ReadDir(dir) // it was listed before
	for _, ends := range []string{"", ".py"} {
		for _, e := range entries {
			name, is := strings.CutSuffix(e.Name(), ends)
			if is && e.IsDir() == (ends == "") && identifier().MatchString(name) && !leftOut().MatchString(name) {
				side = append(side, name)
			}
		}
		if len(side) > 0 || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == "src" }) {
			break
		}
	}
	return side
}
