package project

import (
	"os"
	"path/filepath"
	"strings"

	"envfix/internal/lazy"
)

// leftOut are the folders and modules of a project's directory that setuptools packs for
// nobody: DEFAULT_EXCLUDE of its finders for a flat layout (setuptools/discovery.py).
var leftOut = lazy.Regexp(`(?i)^(ci|bin|docs?|documentation|manpages|news|changelog|tests?|unit_tests?|examples?|` +
	`scripts?|tools|utils?|python|build|dist|v?env|requirements|benchmarks?|exercises?|tasks|fabfile|site_scons|setup|conftest|toxfile|noxfile|pavement|dodo|` +
	`sconstruct|conanfile|manage|__.*)$`)

// identifier is what can be imported.
var identifier = lazy.Regexp(`^[A-Za-z]\w*$`)

// strewn are the folders, else the modules, that lie side by side in a directory of which
// setuptools is to find the packages by itself: it refuses to build more than one.
func strewn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if _, src := os.Stat(filepath.Join(dir, "src")); err != nil || src == nil {
		return nil
	}
	var folders, files []string
	for _, e := range entries {
		name, module := strings.CutSuffix(e.Name(), ".py")
		switch {
		case !identifier().MatchString(name) || leftOut().MatchString(name):
		case e.IsDir():
			folders = append(folders, name)
		case module:
			files = append(files, name)
		}
	}
	for _, side := range [][]string{folders, files} {
		if len(side) == 1 {
			return nil
		} else if len(side) > 1 {
			return side
		}
	}
	return nil
}
