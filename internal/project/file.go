// Package project reads what a project in a directory wants: the files that ask for packages, its
// own documents, its lock, and what its sources import. It writes nothing and starts nothing.
package project

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/pep508"
	"envfix/internal/pyproject"
	"envfix/internal/system"
	"envfix/internal/text"
	"envfix/resolver"
)

// maxProjectFile bounds a file of -r; more is read by nobody by hand either.
const maxProjectFile = 1 << 20

// Read reads a requirements file or a pyproject.toml. "pyproject.toml[dev]"
// adds the dependency group or extra dev.
func Read(path string) (*pyproject.Project, error) {
	var groups []string
	if base, inner, ok := strings.Cut(path, "["); ok && strings.HasSuffix(inner, "]") {
		path = base
		groups = text.Each(strings.Split(strings.TrimSuffix(inner, "]"), ","), strings.TrimSpace)
	}
	text, err := ReadFile(path)
	if err == nil {
		var p *pyproject.Project
		p, err = pyproject.Read(text, path, ReadFile, groups...)
		if err == nil {
			return p, nil
		}
	}
	return nil, fail.Wrap(fail.Usage, err,
		"`-r FILE` takes a requirements file, a pyproject.toml, a setup.py, a setup.cfg or an environment.yml; `-r 'pyproject.toml[dev]'` adds a dependency group")
}

// wishes are what a file asks for: nothing, where it cannot be read. What is wrong with
// one that is followed is told where the request is read.
func wishes(path string) *pyproject.Project {
	if p, err := Read(path); err == nil {
		return p
	}
	return &pyproject.Project{}
}

// ReadFile reads a file of a project, up to the size that one may have.
func ReadFile(path string) ([]byte, error) { return readBounded(path, maxProjectFile) }

func readBounded(path string, most int64) ([]byte, error) {
	f, err := system.OpenInput(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s: larger than %d MiB: this is not a project's file", path, most>>20)
	}
	return text, err
}

// projectPython is what the project in dir demands of Python: its
// .python-version, else what its packaging says; "" where it says nothing.
func projectPython(dir string) string {
	text, _ := ReadFile(filepath.Join(dir, ".python-version")) // without one it says nothing
	return cmp.Or(pyproject.PythonVersion(text), pythonOf(dir, "pyproject.toml"), pythonOf(dir, "setup.cfg"), pythonOf(dir, "setup.py"))
}

// pythonOf is what one file of a project's packaging demands of Python; "" nothing, or
// it cannot be read.
func pythonOf(dir, name string) string {
	if text, err := ReadFile(filepath.Join(dir, name)); err == nil && !isEnvironment(name) {
		if p, err := pyproject.Read(text, name, nil); err == nil {
			return pyproject.MinorPython(p.Python)
		}
	}
	return ""
}

// Warnings say what of a project was read, where the files of -r would give another
// build than the chosen one in the environment env, and what of them was not followed.
func (w Wish) Warnings(c *resolver.Choice, env pep508.Environment) []string {
	out := slices.Clone(w.Said)
	if w.Lock != nil && w.Manager == "" {
		if torch := w.Lock.Undoes(c); torch != "" {
			tool, hint := strings.TrimSuffix(w.Lock.Name, ".lock")+" install", ""
			if w.Lock.Name == "uv.lock" {
				tool, hint = "uv sync", "; `uv run --no-sync` does not"
			}
			out = append(out, fmt.Sprintf("%s has torch %s: `%s` puts that in place of this choice%s", w.Lock.Name, torch, tool, hint))
		}
	}
	for _, path := range w.Files {
		p := wishes(path)
		for _, other := range p.Contradictions(c, env) {
			out = append(out, other+": an installer that follows the project would take another build")
		}
		for _, place := range p.Repositories() {
			out = append(out, place+" is built from its repository at apply: its own code runs then, and what it requires was not read")
		}
		out = slices.Concat(out, p.Untaken(), p.Notes)
	}
	return out
}
