package project

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/text"
)

// What a project takes from its folders is installed in place with what that requires, and
// asked of no index: anybody may have taken the name there.
func TestLocal(t *testing.T) {
	const build = "[build-system]\nrequires = ['setuptools']\n[project]\nversion = '1'\nname = "
	member := build + "'our-part'\ndependencies = ['einops', 'our-deep']\n[tool.uv.sources]\nour-deep = { workspace = true }\n"
	for name, c := range map[string]struct {
		files               map[string]string
		home                string
		here                bool // it is asked for as `.`
		asked, members, own string
		said                string
	}{
		"workspace": {files: map[string]string{
			"pyproject.toml":            build + "'x'\ndependencies = ['torch', 'our-part', 'numpy']\n[tool.uv.workspace]\nmembers = ['packages/*']\n[tool.uv.sources]\nour-part = { workspace = true }\n",
			"packages/a/pyproject.toml": member, "packages/b/pyproject.toml": build + "'our_deep'\ndependencies = ['tqdm']\n", "packages/c": ""},
			asked: "torch numpy einops tqdm", members: "packages/a packages/b", own: "."},
		"workspace of its top": {here: true, files: map[string]string{
			"pyproject.toml": build + "'x'\ndependencies = ['our-part', 'our-gone', 'our-lost']\n[tool.uv.workspace]\nmembers = ['a', 'no*']\n" +
				"[tool.uv.sources]\nour-part = { workspace = true }\nour-gone = { workspace = true }\nour-lost = { workspace = true }\n",
			"a/pyproject.toml": build + "'our-part'\ndependencies = ['torch', 'einops']\n", "notes.txt": ""},
			asked: "torch einops", members: "a", own: ".", said: "takes our-lost from a folder that is not followed"},
		"not here": {files: map[string]string{
			"pyproject.toml": build + "'x'\ndependencies = ['torch', 'our-part', 'near']\n[tool.uv.sources]\nour-part = { workspace = true }\nnear = { path = 'near' }\n"},
			asked: "torch", own: ".", said: "takes our-part from a folder that is not followed"},
		"path": {files: map[string]string{
			"pyproject.toml": build + "'x'\ndependencies = ['torch', 'our-part[more]']\n[tool.uv.sources]\nour-part = { path = 'part', editable = true }\n",
			"part/setup.py":  "from setuptools import setup\nsetup(name='our-part', install_requires=['einops'], extras_require={'more': ['rich']})"},
			asked: "torch einops rich", members: "part", own: "."},
		"poetry": {files: map[string]string{
			"pyproject.toml":      "[tool.poetry]\nname = 'x'\n[tool.poetry.dependencies]\ntorch = '*'\nour-part = { path = 'part', develop = true }\n",
			"part/pyproject.toml": build + "'our-part'\ndependencies = ['einops']\n"},
			asked: "torch einops", members: "part"},
		"lines": {files: map[string]string{"requirements.txt": "torch\n-e ./part\n-e .[dev]\n", "part/pyproject.toml": build + "'our-part'\ndependencies = ['einops']\n",
			"pyproject.toml": build + "'x'\n[project.optional-dependencies]\ndev = ['pytest']\n"},
			asked: "torch einops pytest", members: "part", own: "."},
		"itself": {files: map[string]string{
			"pyproject.toml": build + "'x'\ndependencies = ['torch', 'x[more]']\n[project.optional-dependencies]\nmore = ['rich']\n[tool.uv.workspace]\nmembers = ['.']\n[tool.uv.sources]\nx = { workspace = true }\n"},
			asked: "torch rich", own: "."},
		"itself in turn": {files: map[string]string{"pyproject.toml": build + "'My.App'\ndependencies = ['torch', 'my-app[all]']\n" +
			"[project.optional-dependencies]\nall = ['my_app[x,y]']\nx = ['rich', 'my-app[all]']\ny = ['tqdm']\nz = ['einops']\n"}, asked: "torch rich tqdm", own: "."},
		"each other": {files: map[string]string{"requirements.txt": "torch\n-e ./a\n",
			"a/pyproject.toml": build + "'a'\ndependencies = ['b']\n[tool.uv.sources]\nb = { path = '../b' }\n",
			"b/pyproject.toml": build + "'b'\ndependencies = ['a', 'tqdm']\n[tool.uv.sources]\na = { path = '../a' }\n"},
			asked: "torch tqdm", members: "a b"},
		"away": {home: "x", files: map[string]string{"requirements.txt": "torch\n-e ../away\n"}, asked: "torch", said: "is not followed"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range c.files {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w, to := &Wish{Home: c.home}, plan.Target{}
			if c.here {
				t.Chdir(dir)
				dir = "."
			}
			if err := w.Follow(dir, &to, false); err != nil {
				t.Fatal(err)
			}
			w.Local(&to, false)
			asked, err := w.requirements()
			if err != nil {
				t.Fatal(err)
			}
			whole, err := filepath.Abs(dir)
			if err != nil {
				t.Fatal(err)
			}
			way := func(full string) string { way, _ := filepath.Rel(whole, full); return filepath.ToSlash(way) }
			got := strings.Join(text.Each(asked, func(q pep508.Requirement) string { return q.Name }), " ")
			if members := strings.Join(text.Each(to.Members, way), " "); got != c.asked || members != c.members {
				t.Errorf("asked %q, in place %q", got, members)
			}
			if strings.Contains(strings.Join(w.Said, "\n"), "a folder down") {
				t.Errorf("a member is told as another project: %q", w.Said)
			}
			if c.own != "" && way(to.Editable) != c.own || !strings.Contains(strings.Join(w.Said, "\n"), c.said) {
				t.Errorf("own %q, said %q", to.Editable, w.Said)
			}
		})
	}
}

// Two links that lead to their own folder have no end of names.
func TestLocalBounded(t *testing.T) {
	dir := t.TempDir()
	text := "[project]\nname = 'x'\nversion = '1'\ndependencies = ['torch', 'one', 'two']\n[tool.uv.sources]\none = { path = 'one' }\ntwo = { path = 'two' }\n"
	err := os.WriteFile(filepath.Join(dir, "pyproject.toml"), []byte(text), 0o600)
	for _, name := range []string{"one", "two"} {
		err = errors.Join(err, os.Symlink(".", filepath.Join(dir, name)))
	}
	w, to := &Wish{}, plan.Target{}
	if err := errors.Join(err, w.Follow(dir, &to, false)); err != nil {
		t.Fatal(err)
	}
	w.Local(&to, false)
	if n := len(to.Members); n == 0 || n > mostFolders {
		t.Errorf("%d folders", n)
	}
}
