package probe

import (
	"archive/zip"
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"envfix/internal/machine"
	"envfix/internal/probe/packages"
	"envfix/internal/probe/python"
	"envfix/internal/probe/sysroot"
	"envfix/internal/testenv"
	"envfix/internal/text"
)

// TestTargetOfPip: torch that lies on PYTHONPATH alone is the one that is imported, with what lies beside it.
func TestTargetOfPip(t *testing.T) {
	root := testenv.Tree(t, map[string]string{
		"opt/py/bin/python3.12": "", "opt/py/lib/python3.12/os.py": "x", "opt/py/lib/python3.12/site-packages/pip/__init__.py": "",
		"p/torch/__init__.py": "", "p/torch/version.py": "__version__ = '2.9.1+cu128'\ncuda = '12.8'\n",
		"p/torch-2.9.1.dist-info/METADATA": "Name: torch\nVersion: 2.9.1\n\n",
	})
	if err := os.Chmod(root+"/opt/py/bin/python3.12", 0o755); err != nil {
		t.Fatal(err)
	}
	f := EnvFiles(Options{Root: root, OS: "linux", Env: []string{"PATH=/opt/py/bin", "PYTHONPATH=/p"}})
	if f == nil || len(f.Imports) != 1 || f.Imports[0].Place != machine.InEnvironment || len(f.Dists) != 1 {
		t.Errorf("%+v", f)
	}
}

// TestZippedPackage: a package in an archive that a .pth file names is installed.
func TestZippedPackage(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"sympy/__init__.py", "sympy-1.14.0.dist-info/METADATA"} {
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	h := sysroot.New(sysroot.Options{Root: testenv.Tree(t, map[string]string{"z/sympy.zip": b.String()}), OS: "linux"})
	infos, _ := python.Infos(h, []string{"/z/sympy.zip"}, ".dist-info")
	if d := text.Each(infos, func(info string) string { r := python.ReadDist(h, info); return r.Name + " " + r.Version }); !slices.Equal(d, []string{"sympy 1.14.0"}) {
		t.Errorf("%q", d)
	}
}

// TestHiddenWithin: a package that another version left goes before the module of its name, and machine code too.
func TestHiddenWithin(t *testing.T) {
	const at = "s/torch/nn/"
	root := testenv.Tree(t, map[string]string{
		at + "functional.py": "x", at + "functional/__init__.py": "", at + "grad.py": "x", at + "grad/data": "", at + "init.py": "x", at + "init.abi3.so": "",
		at + "own.py": "x", at + "own/__init__.py": "x", "s/torch-2.9.1.dist-info/METADATA": "Name: torch\nVersion: 2.9.1\n\n", "s/torch-2.9.1.dist-info/INSTALLER": "pip",
		"s/torch-2.9.1.dist-info/RECORD": "torch/nn/functional.py,,\ntorch/nn/grad.py,,\ntorch/nn/init.py,,\ntorch/nn/own.py,,\ntorch/nn/own/__init__.py,,\ntorch-2.9.1.dist-info/RECORD,,\n",
	})
	h := sysroot.New(sysroot.Options{Root: root, OS: "linux"})
	got := packages.Files(h, []string{"/s"}, python.Env{Python: machine.Python{Version: "3.12.4"}})
	if len(got) != 1 || !slices.Equal(got[0].Hides, []string{"/s/torch/nn/functional", "/s/torch/nn/init.abi3.so"}) {
		t.Errorf("%+v", got)
	}
}

// TestCutAtALine: a RECORD that ends with a whole line, before the last of the packages that it is of.
func TestCutAtALine(t *testing.T) {
	const info = "s/torch-2.9.1.dist-info/"
	for lines, want := range map[string]string{"torch/a.py,,\ntorchgen/b.py,,\n": "", "torch/a.py,,\n": "cut off"} {
		h := sysroot.New(sysroot.Options{OS: "linux", Root: testenv.Tree(t, map[string]string{
			"s/torch/a.py": "x", "s/torchgen/b.py": "x", info + "METADATA": "Name: torch\nVersion: 2.9.1\n\n", info + "INSTALLER": "uv",
			info + "top_level.txt": "absent\ntorch\ntorchgen\n", info + "RECORD": "torch-2.9.1.dist-info/RECORD,,\n" + lines,
		})})
		if got := packages.Files(h, []string{"/s"}, python.Env{}); len(got) != 1 || got[0].Record != want {
			t.Errorf("%q: %+v", lines, got)
		}
	}
}

// TestWrittenSince: a file of Python's library that was written to after its Python came is whole, or it is lost.
func TestWrittenSince(t *testing.T) {
	for code, want := range map[string][2]int{"def f():\n    return 1\n": {0, 1}, "def f(": {1, 0}, "def f": {1, 0}, "x = 1\n\x00": {1, 0}, "": {1, 0}} {
		const library = "opt/py/lib/python3.12/"
		root := testenv.Tree(t, map[string]string{"opt/py/bin/python3.12": "", library + "os.py": "x", library + "queue.py": code})
		old := time.Now().Add(-48 * time.Hour)
		if err := os.Chtimes(root+"/"+library+"os.py", old, old); err != nil {
			t.Fatal(err)
		}
		h := sysroot.New(sysroot.Options{Root: root, OS: "linux"})
		lost, changed := python.Library(h, python.Env{Python: machine.Python{Path: "/opt/py/bin/python3.12", Version: "3.12.4"}})
		of := func(all []string) int {
			return len(slices.DeleteFunc(all, func(f string) bool { return !strings.HasSuffix(f, "/queue.py") }))
		}
		if got := [2]int{of(lost), of(changed)}; got != want {
			t.Errorf("%q: %v", code, got)
		}
	}
}

// TestShellPython: a variable calls an environment active, and `python` is another one's.
func TestShellPython(t *testing.T) {
	root := testenv.Tree(t, map[string]string{"v/bin/python": "", "c/bin/python": ""})
	for _, file := range []string{root + "/v/bin/python", root + "/c/bin/python"} {
		if err := os.Chmod(file, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for first, want := range map[string]bool{"/c/bin:/v/bin": true, "/v/bin:/c/bin": false, "/c/bin": true, "/none": false} {
		list := ""
		for dir := range strings.SplitSeq(first, ":") {
			list += root + dir + ":"
		}
		h := sysroot.New(sysroot.Options{OS: "linux", Env: []string{"VIRTUAL_ENV=" + root + "/v", "PATH=" + list}})
		if got := shellPython(h, root+"/other"); len(got) > 0 {
			t.Errorf("%s: of one that no variable calls active: %q", first, got)
		}
		if got := slices.ContainsFunc(notes(h, root+"/v"), func(n string) bool { return strings.HasPrefix(n, machine.ShellPython) }); got != want {
			t.Errorf("%s: %v", first, got)
		}
	}
}
