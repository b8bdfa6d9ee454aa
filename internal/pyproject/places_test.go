package pyproject

import (
	"strings"
	"testing"
)

// What a project takes from git is built at apply and asked of no index, whichever way it
// is written; an address with a login is in no plan.
func TestRepositories(t *testing.T) {
	for name, c := range map[string]struct{ file, text, built, indexed string }{
		"lines": {"requirements.txt", "numpy\ngit+https://host.example/a.git\ngit+https://host.example/b.git@v1#egg=b\nc @ git+https://host.example/c\nd@git+https://host.example/d.git@v2\n-e ./x\n",
			"git+https://host.example/a.git | b @ git+https://host.example/b.git@v1 | c @ git+https://host.example/c | d @ git+https://host.example/d.git@v2", "numpy"},
		"uv": {"pyproject.toml", "[project]\nname = 'x'\ndependencies = ['lib', 'numpy']\n[tool.uv.sources]\nlib = { git = 'https://host.example/lib', rev = '1' }\n",
			"lib @ git+https://host.example/lib@1", "numpy"},
		"uv's others": {"pyproject.toml", "[project]\nname = 'x'\ndependencies = ['ours', 'near', 'file>=1', 'numpy']\n[tool.uv.sources]\nours = { workspace = true }\nnear = { path = '../near' }\nfile = { url = 'https://host.example/file-1.whl' }\n",
			"", "file @ https://host.example/file-1.whl numpy"},
		"poetry's": {"pyproject.toml", "[tool.poetry]\nname = 'x'\n[tool.poetry.dependencies]\nnear = { path = '../near' }\nfile = { url = 'https://host.example/file-1.whl' }\nnumpy = '*'\n",
			"", "file @ https://host.example/file-1.whl numpy"},
		"another tool": {"setup.py", "from setuptools import setup\nsetup(name='x', install_requires=['numpy', 'a @ git+git://host.example/a.git#egg=a', 'b @ hg+https://host.example/b'])\n", "", "numpy"},
		"a login":      {"requirements.txt", "git+https://secret@host.example/a.git\nnumpy\n", "", "numpy"},
	} {
		p, err := Read([]byte(c.text), c.file, nil)
		if err != nil {
			t.Fatal(err)
		}
		var indexed []string
		for _, q := range p.Indexed() {
			indexed = append(indexed, q.Line())
		}
		if got := strings.Join(p.Repositories(), " | "); got != c.built || strings.Join(indexed, " ") != c.indexed {
			t.Errorf("%s: %q, %q", name, got, indexed)
		}
		if said := strings.Join(p.Untaken(), " "); strings.Contains(said, "a plan does not") != (name == "another tool" || name == "a login") {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// A page of files that a project names is followed by nobody, and named.
func TestFindLinks(t *testing.T) {
	p, err := ReadRequirements([]byte("torch\n-f https://host.example/wheels.html\n"), "r.txt", nil)
	if err != nil || !strings.Contains(strings.Join(p.Notes, " "), `r.txt:2: "-f https://host.example/wheels.html" is not followed`) {
		t.Errorf("%v, %v", p, err)
	}
}
