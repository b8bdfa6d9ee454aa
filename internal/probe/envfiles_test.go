package probe

import (
	"archive/zip"
	"bytes"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/testelf"

	"github.com/google/go-cmp/cmp"
)

const site = "/env/lib/python3.12/site-packages"

// loaderTree is a machine with a torch whose libcudnn needs libnvJitLink by
// RUNPATH, and a toolkit with another one.
func loaderTree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	rpath := "$ORIGIN/../../nvidia/cublas/lib:$ORIGIN"
	files := map[string][]byte{
		"/env/pyvenv.cfg":                                  []byte("home = /usr/bin\nversion = 3.12.4\n"),
		"/env/bin/python3":                                 nil,
		site + "/torch/__init__.py":                        nil,
		site + "/torch/lib/libtorch_global_deps.so":        testelf.Library(testelf.X86_64, testelf.Dynamic{Needed: []string{"libcublas.so.12", "libc.so.6"}, RPath: rpath}),
		site + "/torch/_C.cpython-312-x86_64-linux-gnu.so": testelf.Library(testelf.X86_64, testelf.Dynamic{Needed: []string{"libtorch_python.so"}, RPath: "$ORIGIN/lib"}),
		site + "/torch/lib/libtorch_python.so":             testelf.Library(testelf.X86_64, testelf.Dynamic{Needed: []string{"libcudart.so.12"}, RunPath: "$ORIGIN"}),
		site + "/torch/lib/libcudart.so.12":                testelf.Library(testelf.X86_64, testelf.Dynamic{}),
		site + "/nvidia/cublas/lib/libcublas.so.12":        testelf.Library(testelf.X86_64, testelf.Dynamic{Needed: []string{"libcublasLt.so.12"}, RunPath: "$ORIGIN"}),
		site + "/nvidia/cublas/lib/libcublasLt.so.12":      testelf.Library(testelf.X86_64, testelf.Dynamic{}),
		"/opt/cuda/libcublas.so.12":                        testelf.Library(testelf.X86_64, testelf.Dynamic{}),
		"/opt/cuda/libcublasLt.so.12.1.3":                  testelf.Library(testelf.X86_64, testelf.Dynamic{}),
		"/opt/arm/libcublasLt.so.12":                       testelf.Library(testelf.AArch64, testelf.Dynamic{}),
		"/opt/cuda/libcuda.so.1":                           testelf.Library(testelf.X86_64, testelf.Dynamic{}),
	}
	for name, data := range files {
		write(t, root+name, data, 0o755)
	}
	if err := os.Symlink("libcublasLt.so.12.1.3", root+"/opt/cuda/libcublasLt.so.12"); err != nil {
		t.Fatal(err)
	}
	return root
}

// TestLoader: RPATH goes before LD_LIBRARY_PATH, and LD_LIBRARY_PATH before
// RUNPATH; libraries of another processor are passed over.
func TestLoader(t *testing.T) {
	root := loaderTree(t)
	got := EnvFiles(Options{Root: root, OS: "linux", Venv: "/env", Named: true, Env: []string{"LD_LIBRARY_PATH=/opt/arm:/opt/cuda"}})
	if got == nil {
		t.Fatal("no environment")
	}
	type short struct{ Name, Path, Via, Version, Wheel string }
	var found []short
	for _, l := range got.Loaded {
		found = append(found, short{l.Name, l.Path, l.Via, l.Version, l.Wheel})
	}
	want := []short{
		{"libcublas.so.12", site + "/nvidia/cublas/lib/libcublas.so.12", "RPATH", "", ""},
		{"libcublasLt.so.12", "/opt/cuda/libcublasLt.so.12.1.3", "LD_LIBRARY_PATH", "12.1.3", site + "/nvidia/cublas/lib/libcublasLt.so.12"},
		{"libtorch_python.so", site + "/torch/lib/libtorch_python.so", "RPATH", "", ""},
		{"libcudart.so.12", site + "/torch/lib/libcudart.so.12", "RUNPATH", "", ""},
		{"libcuda.so.1", "/opt/cuda/libcuda.so.1", "LD_LIBRARY_PATH", "", ""},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRecord: what is missing, of another size, or cut off; byte code and
// programs count for nothing.
func TestRecord(t *testing.T) {
	root := t.TempDir()
	info := site + "/torch-2.9.1.dist-info"
	write(t, root+"/env/pyvenv.cfg", []byte("version = 3.12.4\n"), 0o644)
	write(t, root+"/env/bin/python3", nil, 0o755)
	write(t, root+info+"/INSTALLER", []byte("uv\n"), 0o644)
	write(t, root+info+"/METADATA", []byte("Name: torch\nVersion: 2.9.1+cu128\nRequires-Dist: nvidia-cudnn-cu12==9.10.2.21\n\nVersion: 0\n"), 0o644)
	write(t, root+site+"/torch/version.py", []byte("__version__ = '2.9.1+cu128'\n"), 0o644)
	write(t, root+site+"/torch/lib/libtorch.so", []byte("short"), 0o644)
	for _, c := range []struct {
		record string
		want   machine.DistFiles
	}{
		{"torch/version.py,sha256=x,9\ntorch/lib/libtorch.so,sha256=x,5\ntorch/__pycache__/x.pyc,,\n../../../bin/torchrun,,1\ntorch-2.9.1.dist-info/RECORD,,\n", machine.DistFiles{Files: 2, Libraries: []string{"torch/lib/libtorch.so"}}},
		{"torch/a.py,sha256=x,9\ntorch/lib/libgone.so,sha256=x,5\ntorch/lib/libtorch.so,sha256=x,6\n\"torch/a,b.py\",sha256=x,1\ntorch-2.9.1.dist-info/RECORD,,\n",
			machine.DistFiles{Files: 4, Absent: 3, Missing: []string{site + "/torch/lib/libgone.so", site + "/torch/a.py", site + "/torch/a,b.py"}, Libraries: []string{"torch/lib/libgone.so", "torch/lib/libtorch.so"}, Resized: []string{site + "/torch/lib/libtorch.so"}}},
		{"torch/version.py,sha256=x,9\ntorch/li", machine.DistFiles{Files: 1, Record: "cut off"}},
		{"torch/version.py,sha256=x,9\n", machine.DistFiles{Files: 1, Record: "cut off"}},
		{"", machine.DistFiles{Record: "missing or empty"}},
	} {
		write(t, root+info+"/RECORD", []byte(c.record), 0o644)
		c.want.Name, c.want.Version, c.want.Module, c.want.Info, c.want.Installer = "torch", "2.9.1+cu128", "2.9.1+cu128", info, "uv"
		c.want.Requires = []string{"nvidia-cudnn-cu12==9.10.2.21"}
		got := EnvFiles(Options{Root: root, OS: "linux", Venv: "/env", Named: true})
		if diff := cmp.Diff([]machine.DistFiles{c.want}, got.Dists); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.record, diff)
		}
	}
}

// TestImportPlaces: the order is that of sys.path, and a directory without
// __init__.py hides nothing.
func TestImportPlaces(t *testing.T) {
	root := t.TempDir()
	for _, f := range []string{"/env/bin/python3", site + "/torch/__init__.py", "/proj/torch/notes.txt", "/lib/torch/__init__.py", "/home/u/.local/lib/python3.12/site-packages/torch.py"} {
		write(t, root+f, nil, 0o755)
	}
	env := []string{"HOME=/home/u", "PYTHONPATH=/lib:" + site}
	mkdir(t, root+"/env/conda-meta")
	write(t, root+"/env/conda-meta/python-3.12.4-h1_0.json", nil, 0o644)
	o := Options{Root: root, OS: "linux", Venv: "/env", Named: true, Dir: "/proj", Env: env}
	places := func() (out []string) {
		for _, i := range EnvFiles(o).Imports {
			out = append(out, i.Place+" "+path.Base(i.Path))
		}
		return out
	}
	want := []string{"PYTHONPATH __init__.py", "the user's site-packages torch.py", "the environment __init__.py"}
	if diff := cmp.Diff(want, places()); diff != "" {
		t.Errorf("conda (-want +got):\n%s", diff)
	}
	write(t, root+"/env/pyvenv.cfg", []byte("version = 3.12.4\n"), 0o644)
	write(t, root+"/proj/torch.py", nil, 0o644)
	want = []string{"the working directory torch.py", "PYTHONPATH __init__.py", "the environment __init__.py"}
	if diff := cmp.Diff(want, places()); diff != "" {
		t.Errorf("venv (-want +got):\n%s", diff)
	}
}

// TestUnmade: what has packages and no pyvenv.cfg is no environment to Python, nor is what
// Windows made.
func TestUnmade(t *testing.T) {
	for name, files := range map[string][]string{
		machine.PythonUnmade: {"/env/bin/python3", site + "/torch/__init__.py"},
		machine.PythonAlien:  {"/env/pyvenv.cfg", "/env/Scripts/python.exe", "/env/Lib/site-packages/torch/__init__.py"},
		"":                   {"/env/pyvenv.cfg", "/env/bin/python3"},
	} {
		root := t.TempDir()
		for _, f := range files {
			write(t, root+f, nil, 0o755)
		}
		got := EnvFiles(Options{Root: root, OS: "linux", Venv: "/env", Named: true})
		if got == nil || got.Python != name {
			t.Errorf("%q: %+v", name, got)
		}
	}
	root := loaderTree(t)
	write(t, root+"/bin/sh", testelf.Library(testelf.X86_64, testelf.Dynamic{}), 0o755)
	write(t, root+"/env/bin/python3", testelf.Library(testelf.AArch64, testelf.Dynamic{}), 0o755)
	if got := EnvFiles(Options{Root: root, OS: "linux", Venv: "/env", Named: true}); got.Python != machine.PythonCopied || got.Links != nil {
		t.Errorf("a Python for another processor: %+v", got)
	}
}

// TestEmptyMetadata: Python imports a torch of which the metadata say nothing, and installers
// do not know it.
func TestEmptyMetadata(t *testing.T) {
	for metadata, want := range map[string]string{"": "2.9.1+cu128", "Name: torch\nVersion: 2.9.1+cu128\n": ""} {
		root := loaderTree(t)
		info := site + "/torch-2.9.1.dist-info"
		write(t, root+site+"/torch/version.py", []byte("__version__ = '2.9.1+cu128'\ncuda = '12.8'\n"), 0o644)
		write(t, root+info+"/METADATA", []byte(metadata), 0o644)
		if got := EnvFiles(Options{Root: root, OS: "linux", Venv: "/env", Named: true}); got.Bare != want {
			t.Errorf("%q: %q, want %q", metadata, got.Bare, want)
		}
	}
}

// TestShadowsOfAnotherPython: a package of PYTHONPATH whose modules are compiled for another
// Python, as one of Debian's is.
func TestShadowsOfAnotherPython(t *testing.T) {
	for tag, want := range map[string]string{"cpython-310": "cpython-310", "cpython-312t": "cpython-312t", "cpython-312": "", "": ""} {
		root := t.TempDir()
		for _, f := range []string{"/env/pyvenv.cfg", "/env/bin/python3", site + "/torch/__init__.py", "/ros/numpy/__init__.py", "/ros/numpy/core/_umath." + tag + "-x86_64-linux-gnu.so"} {
			write(t, root+f, nil, 0o755)
		}
		got := EnvFiles(Options{Root: root, OS: "linux", Venv: "/env", Named: true, Env: []string{"PYTHONPATH=/ros"}}).Shadows
		if len(got) != 1 || got[0].Tag != want {
			t.Errorf("%q: %+v", tag, got)
		}
	}
}

// A library that is taken in place of the environment's says which entry holds it
// and which profile put that there.
func TestLoadedOrigins(t *testing.T) {
	root := loaderTree(t)
	write(t, root+"/home/me/.profile", []byte("export LD_LIBRARY_PATH=/opt/arm:/opt/cuda\n"), 0o644)
	env := []string{"HOME=/home/me", "LD_LIBRARY_PATH=/opt/arm:/opt/cuda"}
	loaded := EnvFiles(Options{Root: root, OS: "linux", Venv: "/env", Named: true, Env: env}).Loaded
	for _, l := range loaded {
		var want []machine.Origin
		if l.Via == "LD_LIBRARY_PATH" {
			want = []machine.Origin{{Kind: machine.OriginProfile, File: "~/.profile", Line: 1}}
		}
		if diff := cmp.Diff(want, l.Origins); diff != "" || l.Via == "LD_LIBRARY_PATH" && l.Dir != "/opt/cuda" {
			t.Errorf("%s in %s: %s", l.Name, l.Dir, diff)
		}
	}
}

// So does a torch that PYTHONPATH brings.
func TestImportOrigins(t *testing.T) {
	root := loaderTree(t)
	write(t, root+"/lib/torch/__init__.py", nil, 0o644)
	write(t, root+"/home/me/.zshrc", []byte("export PYTHONPATH=$HOME/x:/lib\n"), 0o644)
	write(t, root+"/home/me/.bashrc", []byte("export OTHER=src\nexport PYTHONPATH=/else/src\nexport PYTHONPATH=src\n"), 0o644)
	write(t, root+"/p/src/torch.py", nil, 0o644)
	relative := EnvFiles(Options{Root: root, OS: "linux", Dir: "/p", Venv: "/env", Named: true, Env: []string{"HOME=/home/me", "PYTHONPATH=src"}}).Imports
	if len(relative) == 0 || len(relative[0].Origins) != 1 || relative[0].Origins[0].Line != 3 || relative[0].Origins[0].File != "~/.bashrc" {
		t.Errorf("a relative entry: %+v", relative)
	}
	got := EnvFiles(Options{Root: root, OS: "linux", Venv: "/env", Named: true, Env: []string{"HOME=/home/me", "PYTHONPATH=/home/me/x:/lib"}}).Imports
	want := []machine.ImportPlace{
		{Path: "/lib/torch/__init__.py", Place: machine.InPythonPath, Origins: []machine.Origin{{Kind: machine.OriginProfile, File: "~/.zshrc", Line: 1}}},
		{Path: site + "/torch/__init__.py", Place: machine.InEnvironment},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Python is told to leave the working directory out of its search path.
func TestSafePath(t *testing.T) {
	for safe, want := range map[string]int{"": 1, "1": 0} {
		root := t.TempDir()
		for _, f := range []string{"/env/pyvenv.cfg", "/env/bin/python3", site + "/torch/__init__.py", "/proj/random.py"} {
			write(t, root+f, nil, 0o755)
		}
		f := EnvFiles(Options{Root: root, OS: "linux", Dir: "/proj", Venv: "/env", Named: true, Env: []string{"PYTHONSAFEPATH=" + safe}})
		if len(f.Shadows) != want {
			t.Errorf("PYTHONSAFEPATH=%q: %+v", safe, f.Shadows)
		}
	}
}

// What hides a module of Python's library, or of torch's own: a source, byte code or machine code,
// in the working directory, in PYTHONPATH (be it the environment's own directory of packages,
// which comes behind the library else), or where a file that Python starts with puts it first.
func TestShadows(t *testing.T) {
	for file, want := range map[string]int{
		"/proj/random.py": 1, "/proj/random.pyc": 1, "/proj/random.cpython-312-x86_64-linux-gnu.so": 1, "/proj/random.cpython-310-x86_64-linux-gnu.so": 0, "/proj/random.txt": 0,
		site + "/enum/__init__.py": 1, site + "/numpy/__init__.py": 0, "/first/queue.py": 1, "/first/mine.py": 0,
	} {
		root := t.TempDir()
		write(t, root+site+"/a.pth", []byte("import sys; p = '/first'; sys.path[:0] = [p]\n"), 0o644)
		for _, f := range []string{"/env/pyvenv.cfg", "/env/bin/python3", site + "/torch/__init__.py", file} {
			write(t, root+f, nil, 0o755)
		}
		f := EnvFiles(Options{Root: root, OS: "linux", Dir: "/proj", Venv: "/env", Named: true, Env: []string{"PYTHONPATH=" + site}})
		if len(f.Shadows) != want {
			t.Errorf("%s: %+v", file, f.Shadows)
		}
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for _, name := range []string{"numpy/__init__.py", "numpy/core/queue.py", "uuid.py"} {
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	write(t, root+"/libs.zip", archive.Bytes(), 0o644)
	write(t, root+site+"/easy-install.pth", []byte("import sys; sys.__plen = len(sys.path)\n./queue-1.0-py3.12.egg\nimport sys; p = 0; sys.path[p:p]=new\n"), 0o644)
	for _, f := range []string{"/env/pyvenv.cfg", "/env/bin/python3", site + "/torch/__init__.py", site + "/queue-1.0-py3.12.egg/queue.py"} {
		write(t, root+f, nil, 0o755)
	}
	var got []string
	for _, s := range EnvFiles(Options{Root: root, OS: "linux", Dir: "/proj", Venv: "/env", Named: true, Env: []string{"PYTHONPATH=/libs.zip"}}).Shadows {
		got = append(got, strings.TrimPrefix(s.Path, site)+s.Version)
	}
	if want := []string{"/libs.zip/numpy/__init__.py", "/libs.zip/uuid.py", "/queue-1.0-py3.12.egg/queue.py1.0"}; !slices.Equal(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
	root = t.TempDir()
	for _, f := range []string{"/env/pyvenv.cfg", "/env/bin/python3", site + "/torch/__init__.py", "/proj/torch.so", "/proj/torch.py"} {
		write(t, root+f, nil, 0o755)
	}
	if got := EnvFiles(Options{Root: root, OS: "linux", Dir: "/proj", Venv: "/env", Named: true}).Imports; len(got) != 2 || got[0].Path != "/proj/torch.so" {
		t.Errorf("machine code comes before a source: %+v", got)
	}
}
