package probe

import (
	"archive/zip"
	"bytes"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSearchPath: what Python's start does to its search path decides which torch it
// imports, and which packages it sees.
func TestSearchPath(t *testing.T) {
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	if _, err := z.Create("torch/__init__.py"); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		files map[string]string
		env   string
		want  []string // places of torch, in their order, then what a .pth names in vain
	}{
		"a directory that a .pth adds": {map[string]string{site + "/a.pth": "# none\n/shared\n"}, "", []string{"/shared/torch/__init__.py"}},
		"it comes after the own one":   {map[string]string{site + "/a.pth": "/shared\n", site + "/torch/__init__.py": ""}, "", []string{site + "/torch/__init__.py", "/shared/torch/__init__.py"}},
		"one that a .pth puts first":   {map[string]string{site + "/a.pth": "import sys; sys.path.insert(0, '/shared')\n", site + "/torch/__init__.py": ""}, "", []string{"/shared/torch/__init__.py", site + "/torch/__init__.py"}},
		"one put first by condition":   {map[string]string{site + "/sitecustomize.py": "if x:\n    sys.path.insert(0, '/shared')\n", site + "/torch/__init__.py": ""}, "", []string{site + "/torch/__init__.py"}},
		"a source that is gone":        {map[string]string{site + "/__editable__.torch.pth": "/src/pytorch\n"}, "", []string{"gone /src/pytorch"}},
		"an archive on PYTHONPATH":     {nil, "PYTHONPATH=/z/site.zip", []string{"/z/site.zip/torch/__init__.py"}},
	} {
		root := t.TempDir()
		write(t, root+"/env/bin/python3", nil, 0o755)
		write(t, root+"/env/pyvenv.cfg", []byte("version = 3.12.4\n"), 0o644)
		write(t, root+"/shared/torch/__init__.py", nil, 0o644)
		write(t, root+"/z/site.zip", archive.Bytes(), 0o644)
		mkdir(t, root+site)
		for f, data := range c.files {
			write(t, root+f, []byte(data), 0o644)
		}
		f := EnvFiles(Options{Root: root, OS: "linux", Venv: "/env", Named: true, Dir: "/proj", Env: []string{"HOME=/home/u", c.env}})
		var got []string
		for _, i := range f.Imports {
			got = append(got, i.Path)
		}
		for _, g := range f.Gone {
			got = append(got, "gone "+g.Path)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestUserBase: PYTHONUSERBASE moves what `pip install --user` brings.
func TestUserBase(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/usr/bin/python3.12", nil, 0o755)
	mkdir(t, root+"/usr/lib/python3.12")
	info := "/ub/lib/python3.12/site-packages/torch-2.9.1.dist-info"
	write(t, root+info+"/METADATA", []byte("Name: torch\nVersion: 2.9.1\n\n"), 0o644)
	f := EnvFiles(Options{Root: root, OS: "linux", Env: []string{"HOME=/home/u", "PATH=/usr/bin", "PYTHONUSERBASE=/ub"}})
	if f == nil || len(f.Dists) != 1 || path.Base(f.Dists[0].Info) != path.Base(info) {
		t.Errorf("%+v", f)
	}
}
