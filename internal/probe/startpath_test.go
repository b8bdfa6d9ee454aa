package probe

import (
	"archive/zip"
	"bytes"
	"os"
	"path"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/probe/python"
	"envfix/internal/probe/sysroot"

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

// TestStartFaults: what Python runs when it starts can end it, or keep torch away.
func TestStartFaults(t *testing.T) {
	for text, want := range map[string]string{
		"\xff\xfe/\x00s\x00": machine.StartUnread,
		"/shared/é\n":        "",
		"import sys; sys.modules['torch'] = None\n":                     machine.StartHides,
		"import sys; sys.exit(0)\n":                                     machine.StartEnds,
		"import sys\ndef f():\n    sys.exit(0)\nexited = 1\n":           "",
		"import sys, x; sys.meta_path.insert(0, x.Finder('torch'))\n":   machine.StartHooks,
		"import sys; sys.modules['tensorflow'] = None\n":                "",
		"import sys; sys.modules['_ctypes'] = None\n":                   machine.StartHides,
		"import sys; sys.modules['readline'] = None\n":                  "",
		"import sys; sys.modules['numpy'] = None\n":                     machine.StartHides,
		"import sys; sys.setrecursionlimit(60)\n":                       machine.StartNarrows,
		"import sys; sys.setrecursionlimit(6000)\n":                     "",
		"import sys; sys.path = [p for p in sys.path if '/x' not in p]": machine.StartNarrows,
		"import sys; sys.path = ['/x'] + sys.path\n":                    "",
		"import sys; sys.path[:] = sys.path + ['/x']\n":                 "",
		"import sys; sys.path = [*sys.path, '/x']\n":                    "",
		"import sys; '' in sys.path and sys.path.remove('')\n":          "",
		"import sys; x = 'torch' in sys.modules\n":                      "",
		"import sys; x = sys.modules.get('torch')\n":                    "",
		"# sys.path = []\nexit the docs\n":                              "",
		"import sys; sys.path.append('/x')\n":                           "",
		"import os; os.environ['TORCH_HOME'] = '/torch'\n":              "",
	} {
		root := t.TempDir()
		write(t, root+"/env/pyvenv.cfg", []byte("version = 3.12.4\n"), 0o644)
		write(t, root+site+"/a.pth", []byte(text), 0o644)
		f := EnvFiles(Options{Root: root, OS: "linux", Venv: "/env", Named: true})
		got := ""
		for _, x := range f.Starts {
			got = x.Is
			if x.At.File != site+"/a.pth" || x.At.Line != 1 {
				t.Errorf("%q: at %s", text, x.At.Place())
			}
		}
		if got != want {
			t.Errorf("%q: %q; want %q", text, got, want)
		}
	}
}

// TestPythonFaults: an interpreter that is there may not start all the same.
func TestPythonFaults(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"a library beside it":        {[]string{"/opt/py/lib/python3.12/os.py"}, ""},
		"a library in an archive":    {[]string{"/opt/py/lib/python312.zip"}, ""},
		"a library without its code": {[]string{"/opt/py/lib/python3.12/LICENSE.txt"}, machine.PythonBare},
		"a script that starts one":   {[]string{"#!/bin/sh\nexec /usr/bin/python3.11 \"$@\"\n"}, machine.PythonScript},
		"a script that tells it":     {[]string{"#!/bin/sh\nexport PYTHONPATH=/env/x\nexec /usr/bin/python3.11 \"$@\"\n", "/opt/py/lib/python3.12/os.py"}, ""},
		"a script by its name":       {[]string{"#!/bin/sh\nexec -a \"$0\" /usr/bin/python3.11 \"$@\"\n", "/opt/py/lib/python3.12/os.py"}, ""},
	} {
		root := t.TempDir()
		write(t, root+"/opt/py/bin/python3.12", nil, 0o755)
		write(t, root+"/env/pyvenv.cfg", []byte("home = /opt/py/bin\nversion = 3.12.4\n"), 0o644)
		mkdir(t, root+site)
		mkdir(t, root+"/env/bin")
		if err := os.Symlink("/opt/py/bin/python3.12", root+"/env/bin/python"); err != nil {
			t.Fatal(err)
		}
		for _, f := range c.files {
			if strings.HasPrefix(f, "#!") {
				write(t, root+"/opt/py/bin/python3.12", []byte(f), 0o755)
				continue
			}
			write(t, root+f, nil, 0o644)
		}
		if f := EnvFiles(Options{Root: root, OS: "linux", Venv: "/env", Named: true}); f.Python != c.want {
			t.Errorf("%s: %q; want %q", name, f.Python, c.want)
		}
	}
}

// TestUserSiteOfVenv: an environment that sees the system's packages sees the user's before them.
func TestUserSiteOfVenv(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/env/bin/python", nil, 0o755)
	write(t, root+"/env/pyvenv.cfg", []byte("home = /usr/bin\ninclude-system-site-packages = true\nversion = 3.12.4\n"), 0o644)
	mkdir(t, root+site)
	user := "/home/u/.local/lib/python3.12/site-packages"
	write(t, root+user+"/torch-2.9.1.dist-info/METADATA", []byte("Name: torch\nVersion: 2.9.1\n"), 0o644)
	for env, want := range map[string]int{"A=b": 1, "PYTHONNOUSERSITE=1": 0} {
		h := sysroot.New(sysroot.Options{Root: root, OS: "linux", Env: []string{"HOME=/home/u", env}})
		if got := python.Read(h, "/env").Dists; len(got) != want {
			t.Errorf("%s: %v", env, got)
		}
	}
}

// TestMovedSource: what is installed in place of its sources, and what is another Python's.
func TestMovedSource(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/env/bin/python", nil, 0o755)
	write(t, root+"/env/pyvenv.cfg", []byte("version = 3.12.4\n"), 0o644)
	mkdir(t, root+"/src/here")
	for name, c := range map[string][2]string{
		"here":  {`{"url": "file:///src/here", "dir_info": {"editable": true}}`, "py3-none-any"},
		"gone":  {`{"url": "file:///src/gone", "dir_info": {"editable": true}}`, "cp312-cp312-linux_x86_64"},
		"built": {`{"url": "file:///src/gone", "dir_info": {}}`, "cp38-abi3-linux_x86_64"},
		"other": {"", "cp311-cp311-manylinux_2_17_x86_64"},
		"free":  {"", "cp312-cp312t-manylinux_2_17_x86_64"},
	} {
		info := root + site + "/" + name + "-1.0.dist-info"
		write(t, info+"/METADATA", []byte("Name: "+name+"\nVersion: 1.0\n"), 0o644)
		write(t, info+"/WHEEL", []byte("Wheel-Version: 1.0\nTag: "+c[1]+"\n"), 0o644)
		write(t, info+"/direct_url.json", []byte(c[0]), 0o644)
	}
	got := map[string]string{}
	for _, d := range EnvFiles(Options{Root: root, OS: "linux", Venv: "/env", Named: true}).Dists {
		got[d.Name] = d.Gone + d.ABI
	}
	if diff := cmp.Diff(map[string]string{"here": "", "gone": "/src/gone", "built": "", "other": "cp311", "free": ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
