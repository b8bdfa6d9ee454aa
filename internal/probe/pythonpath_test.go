package probe

import (
	"os"
	"slices"
	"testing"

	"envfix/internal/machine"
)

// searchedTree is an environment with torch, made from /opt/py, and a project with a torch of its own in libs.
func searchedTree(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	write(t, root+"/opt/py/bin/python3.12", nil, 0o755)
	write(t, root+"/env/pyvenv.cfg", []byte("home = /opt/py/bin\nversion = 3.12.4\n"), 0o644)
	mkdir(t, root+"/env/bin")
	if err := os.Symlink("/opt/py/bin/python3.12", root+"/env/bin/python"); err != nil {
		t.Fatal(err)
	}
	for _, f := range append(files, "/opt/py/lib/python3.12/os.py", "/proj/libs/torch/__init__.py") {
		write(t, root+f, nil, 0o644)
	}
	return root
}

// Each of the variables that move where Python looks for modules (Python's documentation, "Environment
// variables"; Modules/getpath.py and Lib/site.py of 3.8 to 3.14), in what it does on Linux.
func TestVariablesOfPython(t *testing.T) {
	const own, project = site + "/torch/__init__.py", "/proj/libs/torch/__init__.py"
	for name, c := range map[string]struct {
		env         []string
		fault, from string
	}{
		"none":                              {nil, "", own},
		"PYTHONPATH, absolute":              {[]string{"PYTHONPATH=/proj/libs"}, "", project},
		"PYTHONPATH, from where one stands": {[]string{"PYTHONPATH=libs"}, "", project},
		"PYTHONPATH, and out of it again":   {[]string{"PYTHONPATH=/none:../proj/./libs"}, "", project},
		"PYTHONPATH, entries of nothing":    {[]string{"PYTHONPATH=::"}, "", own},
		"PYTHONPATH, empty":                 {[]string{"PYTHONPATH="}, "", own},
		"PYTHONPLATLIBDIR, not there":       {[]string{"PYTHONPLATLIBDIR=lib64"}, machine.PythonAstray, own},
		"PYTHONPLATLIBDIR, as it is":        {[]string{"PYTHONPLATLIBDIR=lib"}, "", own},
		"PYTHONPLATLIBDIR, empty":           {[]string{"PYTHONPLATLIBDIR="}, "", own},
		"PYTHONUSERBASE beside a venv":      {[]string{"PYTHONUSERBASE=/proj"}, "", own},
		"PYTHONEXECUTABLE, macOS's":         {[]string{"PYTHONEXECUTABLE=/proj/bin/python"}, "", own},
		"__PYVENV_LAUNCHER__, macOS's":      {[]string{"__PYVENV_LAUNCHER__=/proj/bin/python"}, "", own},
	} {
		root := searchedTree(t, own)
		f := EnvFiles(Options{Root: root, OS: "linux", Dir: "/proj", Venv: "/env", Named: true, Env: append(c.env, "HOME=/home/u")})
		if f.Python != c.fault || len(f.Imports) == 0 || f.Imports[0].Path != c.from {
			t.Errorf("%s: %q, %+v", name, f.Python, f.Imports)
		}
	}
}

// TestMinor: an interpreter looks into the directory of its own minor version; packages that lie in that of another are none
// of its own.
func TestMinor(t *testing.T) {
	const other = "/env/lib/python3.11/site-packages"
	for name, c := range map[string]struct {
		files []string
		fault string
		site  string
	}{
		"its own alone":          {[]string{site + "/torch/__init__.py"}, "", site},
		"made anew over another": {[]string{site + "/pip/__init__.py", other + "/torch/__init__.py"}, machine.PythonOther, other},
		"both have it":           {[]string{site + "/torch/__init__.py", other + "/torch/__init__.py"}, "", site},
		"none has it":            {[]string{site + "/pip/__init__.py", other + "/pip/__init__.py"}, "", site},
		"another's alone":        {[]string{other + "/torch/__init__.py"}, machine.PythonOther, other},
	} {
		f := EnvFiles(Options{Root: searchedTree(t, c.files...), OS: "linux", Venv: "/env", Named: true})
		if f.Python != c.fault || !slices.Equal(f.Sites, []string{c.site}) {
			t.Errorf("%s: %q, %v", name, f.Python, f.Sites)
		}
	}
}

// TestFinder: what setuptools installs in place is found where its finder says.
func TestFinder(t *testing.T) {
	for dir, want := range map[string]int{"/proj/libs": 1, "/proj/gone": 0} {
		root := searchedTree(t)
		write(t, root+site+"/__editable__.torch-2.15.0a0.pth", []byte("import __editable___torch_2_15_0a0_finder; __editable___torch_2_15_0a0_finder.install()\n"), 0o644)
		write(t, root+site+"/__editable___torch_2_15_0a0_finder.py",
			[]byte("import sys\nMAPPING: dict[str, str] = {'functorch': '"+dir+"/functorch', 'torch': '"+dir+"/torch'}\nNAMESPACES: dict[str, list[str]] = {}\n"), 0o644)
		f := EnvFiles(Options{Root: root, OS: "linux", Venv: "/env", Named: true})
		if len(f.Imports) != want || (len(f.Gone) == 0) != (want == 1) {
			t.Errorf("%s: %+v, gone %+v", dir, f.Imports, f.Gone)
		}
	}
}
