package probe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"envfix/internal/probe/packages"
	"envfix/internal/probe/python"
	"envfix/internal/testenv"

	"github.com/google/go-cmp/cmp"
)

// Environments are found where programs keep them, where Jupyter names them, and a few
// directories below the home; each once.
func TestPlaces(t *testing.T) {
	cfg := "home = /usr/bin\nversion = 3.12.4\n"
	root := testenv.Tree(t, map[string]string{
		"home/me/a/.venv/pyvenv.cfg":                         cfg,
		"home/me/b/deep/er/env/pyvenv.cfg":                   cfg,
		"home/me/b/link":                                     "-> /home/me/a/.venv",
		"home/me/.secret/env/pyvenv.cfg":                     cfg,
		"home/me/.conda/environments.txt":                    "/data1/conda/x\n/gone\n",
		"data1/conda/x/conda-meta/history":                   "",
		"home/me/.local/share/uv/tools/ruff/pyvenv.cfg":      cfg,
		"home/me/.local/share/jupyter/kernels/k/kernel.json": `{"argv": ["/srv2/nb/bin/python", "-m", "ipykernel"]}`,
		"srv2/nb/pyvenv.cfg":                                 cfg,
		"home/me/a/node_modules/x/env/pyvenv.cfg":            cfg,
	})
	found, _ := Places(Options{Root: root, OS: "linux", Env: []string{"HOME=/home/me", "VIRTUAL_ENV=/home/me/b/link"}, Dir: "/home/me/a", Venv: ".venv"})
	var got []string
	for _, p := range found {
		got = append(got, p.Kind+" "+p.Dir)
	}
	want := []string{"conda /data1/conda/x", "venv /home/me/.local/share/uv/tools/ruff", "venv /home/me/b/deep/er/env", "venv /home/me/b/link", "venv /srv2/nb"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Who installed torch, when, and what came with it or before it.
func TestInstallation(t *testing.T) {
	site := "env/lib/python3.12/site-packages/"
	root := testenv.Tree(t, map[string]string{
		"env/pyvenv.cfg": "home = /usr/bin\nversion = 3.12.4\n", "env/bin/python3": "",
		site + "torch/version.py":                      "__version__ = '2.9.1+cu128'\ncuda: Optional[str] = '12.8'\n",
		site + "torch-2.9.1+cu128.dist-info/METADATA":  "Name: torch\nVersion: 2.9.1+cu128\n\n",
		site + "torch-2.9.1+cu128.dist-info/INSTALLER": "pip\n",
		site + "torch-2.9.1+cu128.dist-info/RECORD":    "",
		site + "xformers-0.0.33.dist-info/METADATA":    "Name: xformers\nVersion: 0.0.33\nRequires-Dist: torch (>=2.9)\n\n",
		site + "xformers-0.0.33.dist-info/RECORD":      "",
		site + "torchvision-0.20.1.dist-info/METADATA": "Name: torchvision\nVersion: 0.20.1\nRequires-Dist: torch (==2.5.1)\n\n",
		site + "torchvision-0.20.1.dist-info/RECORD":   "",
		site + "numpy-2.1.0.dist-info/METADATA":        "Name: numpy\nVersion: 2.1.0\nRequires-Dist: torch; extra == 'x'\n\n",
		site + "numpy-2.1.0.dist-info/RECORD":          "",
	})
	at := time.Date(2026, 5, 2, 14, 30, 0, 0, time.UTC)
	for name, then := range map[string]time.Time{"torch-2.9.1+cu128": at, "xformers-0.0.33": at.Add(time.Minute), "torchvision-0.20.1": at.AddDate(0, -1, 0), "numpy-2.1.0": at} {
		files, err := filepath.Glob(filepath.Join(root, site, name+".dist-info", "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(name, err)
		}
		for _, f := range files {
			if err := os.Chtimes(f, then, then); err != nil {
				t.Fatal(err)
			}
		}
	}
	o := Options{Root: root, OS: "linux", Venv: "/env", Named: true}
	env := python.Find(o.host(), o.choice())
	var got string
	for _, p := range env.Installed {
		if p.Name == "torch" {
			i := packages.Installation(o.host(), p)
			got = strings.Join([]string{i.By, i.At, strings.Join(i.With, " "), i.Why}, "|")
		}
	}
	if want := "pip|2026-05-02T14:30:00Z|xformers|torchvision, which needs torch, was installed before it"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
