package project

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/text"
	"envfix/resolver"
)

// tree writes the files of a project into a folder of its own.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "thing")
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// asks are the requirements of a project that was followed, as they are written.
func asks(t *testing.T, w *Wish) (out []string) {
	t.Helper()
	all, err := w.requirements()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range all {
		out = append(out, strings.ReplaceAll(q.Text, " ", ""))
	}
	return out
}

const builds = "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n"

// What a directory asks for is read from the file that says it best, and said so.
func TestFollow(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		asks  string // what is asked for
		read  string // how the reader is told where that stands
		said  string // a part of what else is told
	}{
		{"a list", map[string]string{"requirements.txt": "torch==2.7.1\nrich\n"}, "torch==2.7.1 rich", "requirements.txt", ""},
		{"a list that names another", map[string]string{"requirements.txt": "-r more.txt\ntorch\n", "more.txt": "rich>1\n"}, "rich>1 torch", "requirements.txt, more.txt", ""},
		{"the one that names torch goes first", map[string]string{"requirements.txt": "rich\n", "pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\"torch>=2\"]\n"},
			"torch>=2", "pyproject.toml; not followed: requirements.txt (`-r FILE` follows one instead)", ""},
		{"neither names torch", map[string]string{"requirements.txt": "rich\n", "pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\"tqdm\"]\n"},
			"rich", "requirements.txt; not followed: pyproject.toml (`-r FILE` follows one instead)", ""},
		{"another name", map[string]string{"requirements-gpu.txt": "torch\n"}, "torch", "requirements-gpu.txt", ""},
		{"in a folder", map[string]string{"requirements/base.txt": "torch\n"}, "torch", "requirements/base.txt", ""},
		{"a file that is silent", map[string]string{"pyproject.toml": "[tool.black]\nline-length = 100\n", "setup.py": "from setuptools import setup\nsetup(name='x', install_requires=['torch>2'])\n"},
			"torch>2", "setup.py; not followed: pyproject.toml (`-r FILE` follows one instead)", ""},
		{"its Python stands in another", map[string]string{"requirements.txt": "torch\n", "setup.py": "from setuptools import setup\nsetup(name='x', python_requires='>=3.11')\n"},
			"torch", "requirements.txt, setup.py (Python >=3.11)", ""},
		{"a Python of its own", map[string]string{"requirements.txt": "torch\n", ".python-version": "3.12\n"}, "torch", "requirements.txt, .python-version", ""},
		{"in an extra", map[string]string{"pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\"rich\"]\n[project.optional-dependencies]\ngpu = [\"torch>=2.4\"]\n"},
			"rich", "pyproject.toml", "torch stands only in extras of pyproject.toml: gpu (torch>=2.4)"},
		{"another tool's lists", map[string]string{"requirements.txt": "torch\n", "Pipfile": "[packages]\ntorch = \"*\"\n"}, "torch", "requirements.txt; not followed: Pipfile", ""},
		{"what its document installs", map[string]string{"README.md": "# Install\n```\npip install torch==2.6.0 rich\n```\n"}, "torch rich", "README.md:3 (pip install torch==2.6.0 rich)", ""},
		{"a document beside a list without torch", map[string]string{"requirements.txt": "rich\n", "README.md": "```\npip install torch torchvision\npip install -r requirements.txt\n```\n"},
			"rich torch torchvision", "requirements.txt, README.md:2 (pip install torch torchvision)", ""},
		{"a document beside a list with it", map[string]string{"requirements.txt": "torch\n", "README.md": "```\npip install torch==1.0\n```\n"}, "torch", "requirements.txt", ""},
		{"what a document installs further", map[string]string{"requirements.txt": "torch\n", "README.md": "## Install\n```\npip install -r requirements.txt\npip install flash-attn\n```\n"},
			"torch", "requirements.txt", "README.md:4 installs what nothing that is followed asks for: flash-attn"},
		{"nothing but sources", map[string]string{"train.py": "import torch, tqdm\n", "eval.py": "import torch\ntry:\n    import rich\nexcept ImportError:\n    rich = None\n"},
			"tqdm", "what its sources import: no file says what it asks for", ""},
		{"what a part of torch opens", map[string]string{"train.py": "import torch\nfrom torch.utils.tensorboard import SummaryWriter\n"},
			"tensorboard", "what its sources import: no file says what it asks for", ""},
		{"a setup.py that asks for nothing", map[string]string{"train.py": "import torch, tqdm\n", "setup.py": "from setuptools import setup\nsetup(name='x', packages=['x'], install_requires=[])\n"},
			"setuptools tqdm", "setup.py", "setup.py asks for no package: what its sources import is asked for"},
		{"sources, and what conda installs", map[string]string{"train.py": "import torch, tqdm\n", "README.md": "```\nconda install pytorch==2.0.1 -c pytorch\n```\n"},
			"tqdm torch", "what its sources import: no file says what it asks for, README.md:2 (conda install pytorch==2.0.1 -c pytorch)", ""},
		{"sources, and a line for a tool", map[string]string{"train.py": "import torch, tqdm\n", "README.md": "```\npip install pre-commit\n```\n"},
			"pre-commit tqdm", "README.md:2 (pip install pre-commit)", ""},
		{"conda's list by another name", map[string]string{"env_gpu.yml": "dependencies:\n  - pytorch=2.5\n"}, "torch==2.5.*", "env_gpu.yml", ""},
		{"conda's list that the document names", map[string]string{"x_env.yml": "dependencies:\n  - pytorch=2.5\n", "README.md": "    conda env create -f x_env.yml\n"}, "torch==2.5.*", "x_env.yml", ""},
		{"conda's list in its folder", map[string]string{"environment/x.yaml": "dependencies:\n  - pytorch=2.5\n", "env/settings.yaml": "steps: 3\n", "README.md": "`pip install wandb` logs.\n"},
			"torch==2.5.*", "environment/x.yaml", "README.md:1 installs what nothing that is followed asks for: wandb"},
		{"the list that the document names", map[string]string{"requirements.txt": "torch\n", "environment.yml": "dependencies:\n  - pytorch=2.5\n", "README.md": "```\nconda env create -f environment.yml\n```\n"},
			"torch==2.5.*", "environment.yml; not followed: requirements.txt (`-r FILE` follows one instead)", ""},
		{"of several the one that the document names", map[string]string{"requirements-a.txt": "torch\n", "requirements-b.txt": "torch>2\n", "README.md": "```\npip install -r requirements-b.txt\n```\n"},
			"torch>2", "requirements-b.txt; not followed: requirements-a.txt (`-r FILE` follows one instead)", ""},
		{"a list that a document speaks of alone", map[string]string{"requirements-a.txt": "torch\n", "requirements-b.txt": "torch>2\n", "README.md": "- `requirements-b.txt`: what the old cards need\n"},
			"torch", "requirements-a.txt; not followed: requirements-b.txt (`-r FILE` follows one instead)", ""},
		{"all lines of a script", map[string]string{"train.py": "import torch, torchvision\n", "install.sh": "# torch\nconda install pytorch torchvision -c pytorch\n# more\nRICH=1 pip install rich\npip install torchvision==0.15.1\n"},
			"torch torchvision rich", "what its sources import: no file says what it asks for, install.sh:2 (conda install pytorch torchvision -c pytorch), install.sh:5 (pip install torchvision==0.15.1), install.sh:4 (pip install rich)", ""},
		{"one of several in a script", map[string]string{"train.py": "import torch\n", "install.sh": "if [ $1 = a ]; then\n  pip install torch==2.6.0\nelse\n  pip install torch==2.5.0 rich\nfi\n"},
			"torch", "install.sh:2 (pip install torch==2.6.0)", ""},
		{"the packaging that the document installs", map[string]string{"requirements.txt": "torch==2.2.0\n", "pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\"torch>=2\"]\n",
			"README.md": "```\npip install -U x\npip install -e '.[dev]'\n```\n"}, "torch>=2", "pyproject.toml; not followed: requirements.txt (`-r FILE` follows one instead)", ""},
		{"the extras of the document", map[string]string{"pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\"torch\"]\n[project.optional-dependencies]\nvllm = [\"vllm\"]\n",
			"README.md": "```\npip install x[other]\npip install x[vllm]\n```\n"}, "torch", "pyproject.toml", "README.md:3 installs the project with extras, which are not asked for: `envfix plan "},
		{"a nightly in the document", map[string]string{"requirements.txt": "rich\n", "README.md": "```\npip3 install --pre torch --index-url https://download.pytorch.org/whl/nightly/cu130\n```\n"},
			"rich torch", "requirements.txt, README.md:2 (pip install --pre torch --index-url https://download.pytorch.org/whl/nightly/cu130)", "`--channel nightly` takes one"},
		{"a project a folder down", map[string]string{"requirements-dev.txt": "ruff\n", "inner/pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\"torch\"]\n"},
			"ruff", "requirements-dev.txt", "inner/pyproject.toml, a folder down, does: `envfix plan -r "},
		{"what pip installs after conda", map[string]string{"environment.yml": "dependencies:\n  - pytorch=2.5\n  - pip:\n    - rich>1\n", "README.md": "```\npip install rich==2\n```\n"}, "torch==2.5.* rich>1", "environment.yml", ""},
		{"what pip installs in place of conda's", map[string]string{"environment.yml": "dependencies:\n  - pytorch=2.5\n  - rich=1\n  - pip:\n    - rich==2\n"}, "torch==2.5.* rich==2", "environment.yml", ""},
		{"a folder among the packages", map[string]string{"requirements.txt": "torch\nsubmodules/simple-knn\n"}, "torch", "requirements.txt", ""},
		{"a list that hatch's plugin reads", map[string]string{"pyproject.toml": "[project]\nname = \"x\"\ndynamic = [\"dependencies\"]\n[tool.hatch.metadata.hooks.requirements_txt]\nfiles = [\"requirements.in\"]\n",
			"requirements.in": "torch>2\n"}, "torch>2", "pyproject.toml, requirements.in", ""},
		{"what OpenMMLab's program installs", map[string]string{"requirements.txt": "torch\n", "README.md": "```\nmim install 'mmcv>=2.0.0'\n```\n"}, "torch", "requirements.txt",
			"README.md:2 installs what nothing that is followed asks for: mmcv>=2.0.0"},
		{"a submodule that is not here", map[string]string{"requirements.txt": "torch\n", ".gitmodules": "[submodule \"a\"]\n\tpath = deps/a\n\turl = ../a\n"},
			"torch", "requirements.txt", "its submodule deps/a is not here"},
		{"a submodule that is", map[string]string{"requirements.txt": "torch\n", ".gitmodules": "[submodule \"a\"]\n\tpath = deps/a\n", "deps/a/x": ""}, "torch", "requirements.txt", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &Wish{}
			if err := w.Follow(tree(t, tt.files), &plan.Target{}, false); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(asks(t, w), " "); got != tt.asks {
				t.Errorf("it asks for %s, not %s", got, tt.asks)
			}
			if w.Read != tt.read {
				t.Errorf("read: %s\nwant: %s", w.Read, tt.read)
			}
			if said := strings.Join(w.Said, "\n"); (said == "") != (tt.said == "") || !strings.Contains(said, tt.said) {
				t.Errorf("said: %q, not %q", said, tt.said)
			}
		})
	}
}

// A lock of the project's own tool is followed with the file that it was made from; one that
// cannot be read is said.
func TestFollowLock(t *testing.T) {
	files := map[string]string{"pyproject.toml": "[project]\nname = \"x\"\nversion = \"1\"\ndependencies = [\"torch\"]\n", "requirements.txt": "torch==1.0\n",
		"uv.lock": "version = 1\n[[package]]\nname = \"torch\"\nversion = \"2.6.0\"\n"}
	w := &Wish{}
	if err := w.Follow(tree(t, files), &plan.Target{}, false); err != nil {
		t.Fatal(err)
	}
	if w.Lock == nil || w.Lock.Name != "uv.lock" || !strings.HasPrefix(w.Read, "pyproject.toml, uv.lock; not followed: requirements.txt") {
		t.Errorf("lock %v, read %s", w.Lock, w.Read)
	}
	files["uv.lock"] = "not a lock ["
	w = &Wish{}
	if err := w.Follow(tree(t, files), &plan.Target{}, false); err != nil || len(w.Said) == 0 || !strings.HasPrefix(w.Said[0], "uv.lock is not followed: ") {
		t.Errorf("%v %v", err, w.Said)
	}
}

// Where nothing says what is wanted, the error names what lies there, and what to do with it.
func TestNothingToFollow(t *testing.T) {
	for _, tt := range []struct {
		files        map[string]string
		detail, hint string
	}{
		{map[string]string{"main.c": ""}, "", "`envfix plan` without it"},
		{map[string]string{"count.py": "import numpy\n"}, "", "`envfix plan` without it"},
		{map[string]string{"train.py": "import torch\n", "Pipfile": ""}, "Pipfile is there", "`envfix plan` without it"},
		{map[string]string{"Pipfile": ""}, "Pipfile is there, and envfix does not follow it", "`envfix plan` without it"},
		{map[string]string{"a/requirements.txt": "rich\n", "b/requirements-gpu.txt": "torch\n"}, "lie a folder down", "b/requirements-gpu.txt` follows it"},
		{map[string]string{"README.md": "```\nconda install pytorch -c pytorch\n```\n"}, "README.md:2 installs: conda install pytorch -c pytorch", "plans for what that line names"},
	} {
		err := (&Wish{}).Follow(tree(t, tt.files), &plan.Target{}, false)
		e, ok := errors.AsType[*fail.Error](err)
		if !ok {
			t.Fatalf("%v: %v", tt.files, err)
		}
		if !strings.Contains(strings.Join(e.Details, "\n"), tt.detail) || !strings.Contains(e.Hints[0], tt.hint) {
			t.Errorf("%v: %q %q", tt.files, e.Details, e.Hints)
		}
	}
}

// A project that says how it is built is installed with what it asks for; one whose build takes
// torch, or that asks for what is not followed, is not.
func TestInstallProject(t *testing.T) {
	for name, tt := range map[string]struct {
		files    map[string]string
		target   plan.Target
		editable bool
		said     string
	}{
		"it builds":         {map[string]string{"pyproject.toml": builds + "[project]\nname = \"x\"\nversion = \"1\"\ndependencies = [\"torch\"]\n"}, plan.Target{}, true, ""},
		"not wished":        {map[string]string{"pyproject.toml": builds + "[project]\nname = \"x\"\ndependencies = [\"torch\"]\n"}, plan.Target{NoInstallProject: true}, false, ""},
		"no version":        {map[string]string{"pyproject.toml": builds + "[project]\nname = \"x\"\ndependencies = [\"torch\"]\n"}, plan.Target{}, false, "names no version"},
		"computed":          {map[string]string{"pyproject.toml": builds + "[project]\nname = \"x\"\ndynamic = [\"version\"]\ndependencies = [\"torch\"]\n"}, plan.Target{}, true, ""},
		"no build":          {map[string]string{"requirements.txt": "torch\n"}, plan.Target{}, false, ""},
		"builds with torch": {map[string]string{"pyproject.toml": "[build-system]\nrequires = [\"setuptools\", \"torch\"]\n[project]\nname = \"x\"\nversion = \"1\"\ndependencies = [\"torch\"]\n"}, plan.Target{}, false, "to build it takes torch"},
		"asks for more": {map[string]string{"requirements.txt": "torch\n", "pyproject.toml": builds + "[project]\nname = \"x\"\nversion = \"1\"\ndependencies = [\"rich\"]\n"},
			plan.Target{}, true, ""},
		"asks for more, and builds with torch": {map[string]string{"requirements.txt": "torch\n", "setup.py": "import torch\nfrom setuptools import setup\nsetup(name='x', install_requires=['rich'])\n"},
			plan.Target{}, false, "to build it takes torch"},
		"its setup.py imports what no build system brings": {map[string]string{"setup.py": "import numpy as np, os\nfrom setuptools import setup\nfrom Cython.Build import cythonize\n" +
			"setup(name='x', install_requires=['torch'])\n"}, plan.Target{}, false, "to build it takes numpy and cython, and for extensions a C++ compiler; with"},
		"its setup.py imports what its build system brings": {map[string]string{"pyproject.toml": "[build-system]\nrequires = [\"setuptools\", \"oldest-supported-numpy\"]\n",
			"setup.py": "import numpy, setuptools, pkg_resources\nsetuptools.setup(name='x', install_requires=['torch'])\n"}, plan.Target{}, true, ""},
		"its setup.py imports later, or does without": {map[string]string{"setup.py": "try:\n    import Cython\nexcept ImportError: pass\ndef extensions():\n    import numpy\n" +
			"from setuptools import setup\nsetup(name='x', install_requires=['torch'])\n"}, plan.Target{}, true, ""},
		"asks for more, and by hash": {map[string]string{"requirements.txt": "torch==2.7.1 --hash=sha256:" + strings.Repeat("0", 64) + "\n",
			"setup.py": "from setuptools import setup\nsetup(name='x', version='1', install_requires=['rich'])\n"}, plan.Target{}, false, ""},
		"several folders": {map[string]string{"setup.py": "from setuptools import setup\nsetup(name='x', install_requires=['torch'])\n", "images/a.png": "", "limits/a.csv": "", "tests/a.py": ""},
			plan.Target{}, false, "which of images, limits it is nothing says"},
		"several files": {map[string]string{"pyproject.toml": builds + "[project]\nname = \"x\"\nversion = \"1\"\ndependencies = [\"torch\"]\n", "a.py": "", "b.py": ""},
			plan.Target{}, false, "which of a, b it is nothing says"},
		"one folder and files": {map[string]string{"setup.py": "from setuptools import setup\nsetup(name='x', install_requires=['torch'])\n", "x/a.py": "", "docs/a.md": "", "a.py": "", "b.py": ""},
			plan.Target{}, true, ""},
		"several folders, and src": {map[string]string{"setup.cfg": "[metadata]\nname = x\n[options]\ninstall_requires = torch\n", "src/x/a.py": "", "data/a": "", "images/a": ""}, plan.Target{}, true, ""},
		"several folders, one named": {map[string]string{"setup.py": "from setuptools import setup\nsetup(name='x', packages=['images'], install_requires=['torch'])\n", "images/a.png": "", "limits/a.csv": ""},
			plan.Target{}, true, ""},
		"several folders, another backend": {map[string]string{"pyproject.toml": strings.ReplaceAll(builds, "setuptools", "hatchling") + "[project]\nname = \"x\"\nversion = \"1\"\ndependencies = [\"torch\"]\n", "a/a.py": "", "b/a.py": ""},
			plan.Target{}, true, ""},
		"asks for more than conda's list": {map[string]string{"environment.yml": "dependencies:\n- pytorch\n", "setup.py": "from setuptools import setup\nsetup(name='x', version='1', install_requires=['rich'])\n"},
			plan.Target{}, false, ""},
	} {
		w, dir := &Wish{}, tree(t, tt.files)
		if err := w.Follow(dir, &tt.target, false); err != nil {
			t.Fatal(name, err)
		}
		if want := map[bool]string{true: dir}[tt.editable]; tt.target.Editable != want {
			t.Errorf("%s: editable %q", name, tt.target.Editable)
		}
		if said := strings.Join(w.Said, "\n"); (tt.said == "") != (said == "") || !strings.Contains(said, tt.said) {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// What a project's packaging asks for beyond the list that is followed is asked for with it,
// as `pip install -e .` would, and is no import that nothing declares.
func TestPackagingBesideList(t *testing.T) {
	w := &Wish{}
	dir := tree(t, map[string]string{"requirements.txt": "torch==2.7.1\ntqdm>4\n", "src/x/__init__.py": "import dotenv, torch\n",
		"setup.py": "from setuptools import setup\nsetup(name='x', version='1', python_requires='>=3.9', install_requires=['tqdm', 'python-dotenv>1', 'rich'])\n"})
	if err := w.Follow(dir, &plan.Target{}, false); err != nil {
		t.Fatal(err)
	}
	names := text.Each(w.Undeclared, func(u undeclared) string { return u.Name })
	if got := strings.Join(asks(t, w), " "); got != "torch==2.7.1 tqdm>4 python-dotenv>1 rich" || w.Read != "requirements.txt, setup.py (Python >=3.9)" || slices.Contains(names, "dotenv") {
		t.Errorf("asks for %s, read %s, undeclared %v", got, w.Read, names)
	}
}

// A setup.py that is left beside a pyproject.toml with dependencies asks for nothing; where those
// are dynamic it does.
func TestPackagingRuled(t *testing.T) {
	for written, want := range map[string]string{"dependencies = ['torch', 'rich']\n": "torch rich", "dynamic = ['dependencies']\n": "torch tqdm<4"} {
		w := &Wish{}
		dir := tree(t, map[string]string{"pyproject.toml": builds + "[project]\nname = 'x'\nversion = '1'\n" + written,
			"setup.py": "from setuptools import setup\nsetup(name='x', version='1', install_requires=['torch', 'tqdm<4'])\n"})
		if err := w.Follow(dir, &plan.Target{}, false); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(asks(t, w), " "); got != want {
			t.Errorf("%s asks for %s, not %s", written, got, want)
		}
	}
}

// conda's file chooses conda, its Python and its CUDA; what flags say goes before.
func TestEnvironment(t *testing.T) {
	dir := tree(t, map[string]string{"environment.yml": "name: x\nchannels: [conda-forge]\ndependencies:\n- python=3.11\n- pytorch\n- cuda-version=12.6\n- git\n- pip:\n  - rich\n"})
	w := &Wish{Request: describe.Request{}}
	if err := w.Follow(dir, &plan.Target{}, false); err != nil {
		t.Fatal(err)
	}
	if err := w.Environment(); err != nil {
		t.Fatal(err)
	}
	if !w.ByFile || !w.conda() || w.CUDA != "12.6" || !w.FileCUDA {
		t.Errorf("by file %v, manager %s, CUDA %s", w.ByFile, w.Manager, w.CUDA)
	}
	if below := w.Below(); len(below) != 1 || below[0].Name != "rich" {
		t.Errorf("pip installs %v", below)
	}
	// A user's own micromamba, on PATH or behind a function of the shell.
	for _, variable := range []string{"PATH", "MAMBA_EXE"} {
		bin := t.TempDir()
		program := filepath.Join(bin, "micromamba")
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", "")
		t.Setenv(variable, map[string]string{"PATH": bin, "MAMBA_EXE": program}[variable])
		if w.Manager = ""; w.Environment() != nil || w.Manager != "micromamba" {
			t.Errorf("%s leads to micromamba, and %s is taken", variable, w.Manager)
		}
	}
	r, err := w.AsRequest(false, "2026-11-27", func() (*resolver.Policy, error) { return nil, nil })
	if err != nil || r.ProjectPython != "==3.11.*" || !slices.Contains(r.AsNamed, "git") {
		t.Errorf("%v: Python %s, as named %v", err, r.ProjectPython, r.AsNamed)
	}
	w = &Wish{Request: describe.Request{Manager: "uv", CUDA: "12.8", Python: "3.12"}, Files: []string{filepath.Join(dir, "environment.yml")}}
	if err := w.Environment(); err != nil || w.CUDA != "12.8" || w.FileCUDA || w.Manager != "uv" || w.demands != "" {
		t.Errorf("%v: %s %s demands %q", err, w.Manager, w.CUDA, w.demands)
	}
}

// pixi's project is pixi's: what it says of torch and its Python counts.
func TestPixi(t *testing.T) {
	dir := tree(t, map[string]string{"pixi.toml": "[workspace]\nname = \"x\"\nchannels = [\"conda-forge\"]\nplatforms = [\"linux-64\"]\n[dependencies]\npython = \"3.12.*\"\npytorch = \">=2.6\"\nrich = \"*\"\n[feature.gpu.dependencies]\ncuda = \"*\"\n"})
	w := &Wish{}
	if err := w.Follow(dir, &plan.Target{}, false); err != nil {
		t.Fatal(err)
	}
	if err := w.Environment(); err != nil || w.Manager != "pixi" || w.demands != "==3.12.*" || len(w.Files) > 0 || !slices.Equal(w.Arguments, []string{"torch", "torch>=2.6"}) {
		t.Errorf("%v: %s demands %s of Python, asks for %v", err, w.Manager, w.demands, w.Arguments)
	}
	if said := strings.Join(w.Said, " "); !strings.Contains(said, "what its features ask for is not followed: gpu") {
		t.Errorf("nothing is said of its features: %q", said)
	}
}

// A file's name is no package, a package with a dot is none's file.
func TestRequirementsOf(t *testing.T) {
	t.Chdir(tree(t, map[string]string{"mine.list": "torch\n", "discord": ""}))
	for arg, refused := range map[string]bool{"requirements.txt": true, "pyproject.toml": true, "mine.list": true, "ruamel.yaml": false, "discord.py": false, "discord": false, "torch==2.7": false} {
		if _, err := RequirementsOf([]string{arg}); (err != nil) != refused {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

// A file's brackets choose its groups; what is no file, too large or a device is refused.
func TestRead(t *testing.T) {
	dir := tree(t, map[string]string{"pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\"rich\"]\n[project.optional-dependencies]\ngpu = [\"torch>2\"]\n",
		"large.txt": strings.Repeat("# nothing\n", maxProjectFile/10+1)})
	p, err := Read(filepath.Join(dir, "pyproject.toml") + "[gpu]")
	if err != nil || !p.Asks("torch") || !p.Asks("rich") {
		t.Errorf("%v %+v", err, p)
	}
	for _, name := range []string{"pyproject.toml[cpu]", "absent.txt", "large.txt", "."} {
		if _, err := Read(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if err := OnlyFiles(dir); err != nil {
		t.Error(err)
	}
	if err := os.Symlink(os.DevNull, filepath.Join(dir, "requirements.txt")); err != nil {
		return // this user may make none
	}
	if err := OnlyFiles(dir); err == nil || !strings.Contains(err.Error(), "requirements.txt: it is not a regular file") {
		t.Errorf("a device is taken for a file: %v", err)
	}
}

// A directory is one where it is written as one; a bare word is a package.
func TestIsDir(t *testing.T) {
	dir := tree(t, map[string]string{"torch/x": ""})
	t.Chdir(dir)
	for arg, want := range map[string]bool{".": true, "./torch": true, "torch": false, dir: true, "./absent": false} {
		if IsDir(arg) != want {
			t.Errorf("%s: %v", arg, !want)
		}
	}
}

// Files that lie where a question is asked are offered, and followed only when that is asked.
func TestUnfollowed(t *testing.T) {
	t.Chdir(tree(t, map[string]string{"pyproject.toml": "[project]\nname = \"x\"\n"}))
	if said := (&Wish{}).Unfollowed(); !strings.HasPrefix(said, "found pyproject.toml: ") {
		t.Errorf("said: %q", said)
	}
	if said := (&Wish{Arguments: []string{"torch"}}).Unfollowed(); said != "" {
		t.Errorf("said beside a wish: %q", said)
	}
}

// What a file pins that the choice is not is told with the file.
func TestWarnings(t *testing.T) {
	dir := tree(t, map[string]string{"requirements.txt": "--index-url https://download.pytorch.org/whl/cu118\ntorch\nthing @ git+https://example.org/thing\n"})
	w := Wish{Files: []string{filepath.Join(dir, "requirements.txt")}, Said: []string{"first"}}
	said := strings.Join(w.Warnings(&resolver.Choice{Torch: "2.7.1", Build: "cu128"}, pep508.Environment{}), "\n")
	if !strings.HasPrefix(said, "first\n") || !strings.Contains(said, "is built from its repository at apply") {
		t.Errorf("said: %s", said)
	}
}
