package probe

import (
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/testelf"

	"github.com/google/go-cmp/cmp"
)

// What a virtual environment holds, with what it takes to install it again.
func TestHeld(t *testing.T) {
	root := t.TempDir()
	extension := testelf.Library(testelf.X86_64, testelf.Dynamic{Needed: []string{"libtorch_cpu.so", "libcudart.so.12", "libcublas-9f3a.so.12", "libc.so.6"}})
	for name, text := range map[string]string{
		"/env/pyvenv.cfg":  "home = /usr/bin\nversion_info = 3.12.4.final.0\ninclude-system-site-packages = true\n",
		"/env/bin/python3": "",

		site + "/torch-2.4.0.dist-info/METADATA": "Name: torch\nVersion: 2.4.0\nRequires-Dist: filelock\n",
		site + "/torch/version.py":               "__version__ = '2.4.0+cu121'\ncuda = '12.1'\n",

		site + "/Some_Ext-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: Some.Ext\nVersion: 1.0\nRequires-Python: >=3.9\n" +
			"Requires-Dist: numpy (>=1.2) ; python_version > '3.8'\nRequires-Dist: pytest; extra == 'test'\n\nRequires-Dist: not-a-header\n",
		site + "/Some_Ext-1.0.dist-info/WHEEL":  "Wheel-Version: 1.0\nTag: cp312-cp312-manylinux2014_x86_64\nTag: cp312-cp312-manylinux_2_17_x86_64\n",
		site + "/Some_Ext-1.0.dist-info/RECORD": "some_ext/_C.so,sha256=abc,100\nsome_ext/__init__.py,sha256=def,11\n../../../bin/tool,sha256=x,3\nSome_Ext-1.0.dist-info/METADATA,sha256=y,5\nSome_Ext-1.0.dist-info/RECORD,,\n",
		site + "/some_ext/_C.so":                string(extension),

		site + "/cut_off-1.0.dist-info/METADATA": "Name: cut-off\nVersion: 1.0\n",
		site + "/cut_off-1.0.dist-info/RECORD":   "cut_off-1.0.dist-info/RECORD,,\ncut_off.py,sha256=abc,10\nother.py,sha256=d",

		site + "/mine-0.1.dist-info/METADATA":        "Name: mine\nVersion: 0.1\n",
		site + "/mine-0.1.dist-info/direct_url.json": `{"url": "file:///home/me/mine", "dir_info": {"editable": true}}`,
		"/home/me/mine/mine/__init__.py":             "",
		"/home/me/mine/mine/_C.so":                   string(extension),

		site + "/gone-0.1.dist-info/METADATA":        "Name: gone\nVersion: 0.1\n",
		site + "/gone-0.1.dist-info/direct_url.json": `{"url": "file:///home/me/gone", "dir_info": {}}`,
		site + "/repo-1.dist-info/METADATA":          "Name: repo\nVersion: 1\n",
		site + "/repo-1.dist-info/direct_url.json":   `{"url": "https://git.example/x.git", "vcs_info": {"vcs": "git", "requested_revision": "main", "commit_id": "0123"}, "subdirectory": "py"}`,
		site + "/whl-1.dist-info/METADATA":           "Name: whl\nVersion: 1\n",
		site + "/whl-1.dist-info/direct_url.json":    `{"url": "https://files.example/whl.whl", "archive_info": {"hash": "sha256=00", "hashes": {"sha256": "11"}}}`,
		site + "/older-1.dist-info/METADATA":         "Name: older\nVersion: 1\n",
		site + "/older-1.dist-info/direct_url.json":  `{"url": "https://files.example/o.whl", "archive_info": {"hash": "sha256=00"}}`,

		site + "/half-1.5.dist-info/INSTALLER":       "uv\n", // an installation that broke off
		site + "/~orch/__init__.py":                  "",
		site + "/develop.egg-link":                   "/home/me/develop\n.\n",
		"/home/me/develop/develop.egg-info/PKG-INFO": "Name: develop\nVersion: 3.0\n",
	} {
		write(t, root+name, []byte(text), 0o755)
	}
	got := Held(Options{Root: root, OS: "linux", Venv: "/env", Env: []string{"VIRTUAL_ENV=/other"}})
	links := []string{"libcudart.so.12", "libtorch_cpu.so"}
	want := &machine.Held{System: true, Files: true, Leftovers: []string{"~orch"}, Dists: []machine.HeldDist{
		{Name: "cut-off", Version: "1.0", Bytes: 10},
		{Name: "develop", Version: "3.0", Origin: &machine.DirectURL{Kind: machine.FromEditable, URL: "file:///home/me/develop"}},
		{Name: "gone", Version: "0.1", Origin: &machine.DirectURL{Kind: machine.FromDir, URL: "file:///home/me/gone", Gone: true}},
		{Name: "half", Version: "1.5", Broken: "its metadata has no name or no version"},
		{Name: "mine", Version: "0.1", Origin: &machine.DirectURL{Kind: machine.FromEditable, URL: "file:///home/me/mine", Links: links}},
		{Name: "older", Version: "1", Origin: &machine.DirectURL{Kind: machine.FromArchive, URL: "https://files.example/o.whl", Hash: "sha256=00"}},
		{Name: "repo", Version: "1", Origin: &machine.DirectURL{Kind: machine.FromVCS, URL: "https://git.example/x.git", VCS: "git", Commit: "0123", Subdirectory: "py"}},
		{Name: "some-ext", Version: "1.0", Requires: []string{"numpy (>=1.2) ; python_version > '3.8'"}, RequiresPython: ">=3.9",
			Tags: []string{"cp312-cp312-manylinux2014_x86_64", "cp312-cp312-manylinux_2_17_x86_64"}, Links: links, Bytes: 119,
			Digest: machine.CodeDigest([]machine.RecordFile{{Path: "some_ext/__init__.py", Hash: "sha256=def"}, {Path: "some_ext/_C.so", Hash: "sha256=abc"}})},
		{Name: "torch", Version: "2.4.0+cu121", Requires: []string{"filelock"}},
		{Name: "whl", Version: "1", Origin: &machine.DirectURL{Kind: machine.FromArchive, URL: "https://files.example/whl.whl", Hash: "sha256=11"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// An environment that the plan does not replace is not read.
func TestNothingHeld(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/other/pyvenv.cfg", []byte("version = 3.12.4\n"), 0o644)
	write(t, root+"/conda/conda-meta/history", nil, 0o644)
	for _, o := range []Options{
		{Venv: "/env", Env: []string{"VIRTUAL_ENV=/other"}},
		{Venv: "/conda"},
		{},
	} {
		o.Root, o.OS = root, "linux"
		if got := Held(o); got != nil {
			t.Errorf("%s: %+v", strings.Join(append(o.Env, o.Venv), " "), got)
		}
	}
}
