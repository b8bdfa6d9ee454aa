package project

import (
	"fmt"
	"strings"
	"testing"

	"envfix/internal/plan"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// A script that the project's documents start is what the project is for, by its path or as a
// module, wherever it lies; what it imports is tried, and what of that it begins with.
func TestDocumentsStart(t *testing.T) {
	w, target := &Wish{}, plan.Target{}
	dir := tree(t, map[string]string{"requirements.txt": "torch\n", "README.md": "Run `python ./scripts/train.py --gpu` or python -m tools.show\n",
		"scripts/train.py": "import tqdm\nfrom tqdm.auto import tqdm\n", "tools/show.py": "import yaml", "scripts/other.py": "import requests",
		"tools/ops/setup.py": "Extension(name='fast_ops')", "tools/ops/use.py": "import slow_ops, fast_ops"})
	if err := w.Follow(dir, &target, false); err != nil {
		t.Fatal(err)
	}
	want := "[{fast_ops  false true tools/ops/use.py []} {requests requests false true scripts/other.py []} {slow_ops  false true tools/ops/use.py []} {tqdm tqdm false false scripts/train.py [tqdm.auto.tqdm]} {yaml pyyaml false false tools/show.py []}]"
	if got := fmt.Sprint(target.Imported); got != want {
		t.Error(got)
	}
	said, lacks := w.Unasked(nil, false)
	if !lacks || !strings.Contains(said[0], "pyyaml (tools/show.py)") || strings.Contains(said[0], "requests") {
		t.Errorf("%q %v", said, lacks)
	}
	if last := said[len(said)-1]; !strings.HasSuffix(last, "brings them: fast_ops (tools/ops/setup.py builds it), slow_ops (tools/ops/use.py)") {
		t.Error("an extension of its own is told by what builds it:", last)
	}
}

// The package of a project that is installed is imported, too; one that package_dir gives the
// project's name is its own, wherever it lies.
func TestOwnPackages(t *testing.T) {
	project := builds + "[project]\nname = \"Face-Net\"\nversion = \"1\"\ndependencies = [\"torch\"]\n" +
		"[tool.setuptools]\npackages = [\"face_net\"]\n" // of two that lie there setuptools finds none by itself
	for name, tt := range map[string]struct{ files, want string }{
		"as it is called": {"face_net/__init__.py other/__init__.py tests/__init__.py", "[face_net]"},
		"in src":          {"src/face_net/__init__.py tests/__init__.py", "[face_net]"},
		"by package_dir":  {"__init__.py", "[]"},
	} {
		files, w, target := map[string]string{"pyproject.toml": project, "examples/run.py": "import torch, face_net\n"}, &Wish{}, plan.Target{}
		for file := range strings.FieldsSeq(tt.files) {
			files[file] = ""
		}
		if err := w.Follow(tree(t, files), &target, false); err != nil {
			t.Fatal(name, err)
		}
		own := xslices.Filter(target.Imported, func(m plan.Imported) bool { return m.Package == "the project itself" })
		if got := fmt.Sprint(text.Each(own, func(m plan.Imported) string { return m.Module })); got != tt.want || len(w.Undeclared) > 0 {
			t.Errorf("%s: %s %+v", name, got, w.Undeclared)
		}
	}
}

// What the sources import and nothing asks for is told, and asked for with --closure alone; what
// an extra asks for is taken from there.
func TestImports(t *testing.T) {
	files := map[string]string{"requirements.txt": "torch\n", "main.py": "import torch, yaml\ntry:\n    import xformers\nexcept ImportError:\n    pass\n"}
	for closed, want := range map[bool]string{false: "torch", true: "torch pyyaml"} {
		w := &Wish{}
		if err := w.Follow(tree(t, files), &plan.Target{Closure: closed}, false); err != nil {
			t.Fatal(err)
		}
		if got := strings.ToLower(strings.Join(asks(t, w), " ")); got != want {
			t.Errorf("closure %v asks for %s, not %s", closed, got, want)
		}
		all, lacks := w.Unasked(nil, closed)
		said := strings.Join(all, "\n")
		if lacks == closed {
			t.Errorf("closure %v: lacks %v", closed, lacks)
		}
		if strings.Contains(said, "its sources import what nothing that is followed asks for: pyyaml (main.py") == closed || !strings.Contains(said, "do without, where it is not there: xformers") {
			t.Errorf("closure %v: %s", closed, said)
		}
		if said, lacks := w.Unasked(map[string]string{"pyyaml": "6.0", "xformers": "0.0.30"}, closed); len(said) > 0 || lacks {
			t.Errorf("what is brought is told as missing: %s", said)
		}
	}
}

// What others bring under a module's own name is not told as unknown.
func TestImportsBrought(t *testing.T) {
	w := &Wish{}
	if err := w.Follow(tree(t, map[string]string{"requirements.txt": "torch\n", "main.py": "import torch, no_table_has_it\n"}), &plan.Target{}, false); err != nil {
		t.Fatal(err)
	}
	if said, _ := w.Unasked(nil, false); len(said) != 1 {
		t.Errorf("%q", said)
	}
	if said, lacks := w.Unasked(map[string]string{"no-table-has-it": "1.0"}, false); len(said) > 0 || lacks {
		t.Errorf("%q", said)
	}
}
