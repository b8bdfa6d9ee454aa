package python

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/testenv"

	"github.com/google/go-cmp/cmp"
)

// TestEnvironment reads an environment with everything in it.
func TestEnvironment(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "venv")
	site := filepath.Join(dir, "lib/python3.12/site-packages")
	files := map[string]string{
		"pyvenv.cfg": "home = /opt/python/bin\ninclude-system-site-packages = false\nversion = 3.12.4\n",
		"lib/python3.12/site-packages/torch-2.9.1.dist-info/METADATA":   "Name: torch\nVersion: 2.9.1\nRequires-Dist: sympy\nRequires-Dist: nvidia-cudnn-cu12==9.10.2.21\n\ntext",
		"lib/python3.12/site-packages/torch-2.9.1.dist-info/RECORD":     "torch/version.py,,\n",
		"lib/python3.12/site-packages/torch-2.9.1.dist-info/INSTALLER":  "uv\n",
		"lib/python3.12/site-packages/torch/version.py":                 "__version__ = '2.9.1+rocm6.4'\ncuda: Optional[str] = None\nhip: Optional[str] = '6.4.43482'\n",
		"lib/python3.12/site-packages/Pillow-11.0.0.dist-info/METADATA": "Name: Pillow\nVersion: 11.0.0\n",
		"lib/python3.12/site-packages/pillow-10.0.0.dist-info/METADATA": "Name: pillow\nVersion: 10.0.0\n",
		"lib/python3.12/site-packages/no_metadata-1.0.dist-info/RECORD": "",
		"lib/python3.12/site-packages/old-0.1-py3.12.egg-info/PKG-INFO": "Name: old\nVersion: 0.1\n",
		"conda-meta/pytorch-2.3.0-py3.11_cuda12.1_cudnn8.9.2_0.json":    "{}",
		"conda-meta/history": "",
	}
	for name, text := range files {
		testenv.Write(t, filepath.Join(dir, name), text)
	}
	h := sysroot.New(sysroot.Options{})
	if got := Read(h, dir); got.Python.Path != "" {
		t.Error("an environment without its Python has one")
	}
	testenv.Write(t, filepath.Join(dir, "bin/python"), "")
	got := Read(h, dir)
	if by := Installer(h, site+"/torch-2.9.1.dist-info"); by != "uv" {
		t.Errorf("installed by %q", by)
	}
	if err := os.Symlink("/a/cache/that/was/cleaned", filepath.Join(dir, "INSTALLER")); err != nil || Installer(h, dir) != "uv" {
		t.Errorf("%v: of links to nothing: %q", err, Installer(h, dir))
	}
	hip, info := "6.4.43482", site+"/torch-2.9.1.dist-info"
	want := Env{
		Dir: dir, Base: "/opt/python/bin", Sites: []string{site},
		Python: machine.Python{Version: "3.12.4", Path: dir + "/bin/python", Source: "venv"},
		Dists: []Dist{
			{Package: machine.Package{Name: "no-metadata", Version: "1.0", Path: site}, Info: site + "/no_metadata-1.0.dist-info"},
			{Package: machine.Package{Name: "old", Version: "0.1", Path: site}, Info: site + "/old-0.1-py3.12.egg-info"},
			{Package: machine.Package{Name: "pillow", Version: "11.0.0", Path: site}, Info: site + "/Pillow-11.0.0.dist-info"},
			{Package: machine.Package{Name: "torch", Version: "2.9.1+rocm6.4", Requires: []string{"nvidia-cudnn-cu12==9.10.2.21"}, Path: site},
				HIP: &hip, Info: info},
		},
		Conda: []CondaRecord{{"pytorch", "2.3.0", "py3.11_cuda12.1_cudnn8.9.2_0"}},
	}
	for i := range got.Dists {
		if d := &got.Dists[i]; d.Name == "torch" && (d.Listed != "2.9.1" || d.Module != d.Version || len(d.Needs) != 2) {
			t.Errorf("torch's metadata says %s, its module %s, and it needs %q", d.Listed, d.Module, d.Needs)
		}
		if got.Dists[i].Whole != (got.Dists[i].Name != "no-metadata") {
			t.Errorf("%s: whole %v", got.Dists[i].Name, got.Dists[i].Whole)
		}
		got.Dists[i].Whole = false
		got.Dists[i].Listed, got.Dists[i].Module, got.Dists[i].Needs = "", "", nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if IsEnv(h, t.TempDir()) {
		t.Error("an empty directory is an environment")
	}
}

// A build without CUDA that has no label, as conda's, says so in version.py alone; one for
// ROCm or XPU says None of CUDA as well.
func TestTorchVersion(t *testing.T) {
	for text, want := range map[string]string{
		"__version__ = '2.4.1'\ncuda: Optional[str] = None\nhip: Optional[str] = None\n":                       `""`,
		"__version__ = '2.4.1'\ncuda = None\n":                                                                 `""`,
		"__version__ = '2.4.1'\ncuda: Optional[str] = '12.4'\nhip: Optional[str] = None\n":                     `"12.4"`,
		"__version__ = '2.4.1+rocm6.1'\ncuda: Optional[str] = None\nhip: Optional[str] = '6.1'\n":              "nil",
		"__version__ = '2.8.0+xpu'\ncuda: Optional[str] = None\nhip = None\nxpu: Optional[str] = '20250101'\n": "nil",
		"__version__ = '2.4.1'\n": "nil",
	} {
		dir := t.TempDir()
		site := dir + "/lib/python3.12/site-packages/"
		testenv.Write(t, dir+"/pyvenv.cfg", "home = /opt/python/bin\nversion = 3.12.4\n")
		testenv.Write(t, dir+"/bin/python", "")
		testenv.Write(t, site+"torch-2.4.1.dist-info/METADATA", "Name: torch\nVersion: 2.4.1\n")
		testenv.Write(t, site+"torch/version.py", text)
		env := Read(sysroot.New(sysroot.Options{}), dir)
		if len(env.Dists) != 1 {
			t.Fatal(env)
		}
		got := "nil"
		if c := env.Dists[0].CUDA; c != nil {
			got = strconv.Quote(*c)
		}
		if got != want {
			t.Errorf("%q: cuda is %s, want %s", text, got, want)
		}
	}
}

// TestPatterns compiles what else would only panic on the machine that needs it.
func TestPatterns(t *testing.T) {
	for _, p := range []func() *regexp.Regexp{
		pythonProgram, pythonMinor, pythonPatch, patchLevel, winPython, torchFact,
	} {
		if p() == nil {
			t.Error("no pattern")
		}
	}
}
