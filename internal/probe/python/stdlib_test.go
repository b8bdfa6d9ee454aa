package python

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/say"
	"envfix/internal/testenv"
)

// A module of the library that was not built is missed where the others are files, and not
// where they are a part of the program.
func TestCompiled(t *testing.T) {
	vision := []Dist{{Package: machine.Package{Name: "torchvision"}}}
	const dir = "opt/py/lib/python3.11/lib-dynload/"
	for _, c := range []struct {
		have    []string
		dists   []Dist
		unbuilt []string
	}{
		{[]string{"_json", "_ctypes"}, nil, nil},
		{[]string{"_json"}, nil, []string{"_ctypes"}},
		{[]string{"_json", "_ctypes", "_bz2"}, vision, []string{"_lzma"}},
		{[]string{"_tkinter"}, vision, nil},
	} {
		files := map[string]string{"opt/py/bin/python3.11": "", "opt/py/lib/python3.11/os.py": ""}
		for _, m := range c.have {
			files[dir+m+".cpython-311-x86_64-linux-gnu.so"] = ""
		}
		h := sysroot.New(sysroot.Options{Root: testenv.Tree(t, files), OS: "linux"})
		e := Env{Python: machine.Python{Path: "/opt/py/bin/python3.11", Version: "3.11.7"}, Dists: c.dists}
		if _, unbuilt := Compiled(h, e); !slices.Equal(unbuilt, c.unbuilt) {
			t.Errorf("%q: %q", c.have, unbuilt)
		}
	}
}

// A line of a .pth file that imports what is nowhere on Python's path is told, and no other.
func TestUnfound(t *testing.T) {
	const lib, site = "opt/py/lib/python3.11/", "env/lib/python3.11/site-packages/"
	h := sysroot.New(sysroot.Options{Root: testenv.Tree(t, map[string]string{
		"opt/py/bin/python3.11": "", lib + "lib-dynload/_json.cpython-311-x86_64-linux-gnu.so": "", lib + "os.py": "",
		site + "hook.py": "", site + "pkg/__init__.py": "",
		site + "a.pth": "import sys; sys.path.append('/x')\nimport os, hook\nimport hook\nimport pkg.sub\nimport company_hooks\n/elsewhere\n",
	}), OS: "linux"})
	sites := []string{"/" + site[:len(site)-1]}
	got := unfound(h, Env{Python: machine.Python{Path: "/opt/py/bin/python3.11", Version: "3.11.7"}, Sites: sites}, startFiles(h, sites))
	if len(got) != 1 || got[0].How != "import company_hooks" || got[0].At.Line != 5 {
		t.Errorf("%+v", got)
	}
}

// A file of Python's library that torch's imports need is missed by its name, or by the byte code that it left.
func TestLost(t *testing.T) {
	for gone, want := range map[string]string{"": "", "uuid.py": "uuid.py", "empty": "uuid.py", "http/client.py": "http/client.py"} {
		root, lib := t.TempDir(), "/opt/py/lib/python3.11/"
		for _, name := range append(slices.Clone(stdlibOfTorch), "os", "http/client") {
			if name != "http" && name+".py" != gone {
				testenv.Write(t, root+lib+name+".py", say.If(name != "uuid" || gone != "empty", "x"))
			}
		}
		testenv.Write(t, root+lib+"http/__pycache__/client.cpython-311.pyc", "")
		testenv.Write(t, root+lib+"http/__pycache__/gone.cpython-310.pyc", "")
		h := sysroot.New(sysroot.Options{Root: root, OS: "linux"})
		lost, _ := Library(h, Env{Python: machine.Python{Path: "/opt/py/bin/python3.11", Version: "3.11.7"}})
		got := strings.Join(lost, " ")
		if strings.TrimPrefix(got, lib) != want {
			t.Errorf("without %q: %q", gone, got)
		}
	}
}
