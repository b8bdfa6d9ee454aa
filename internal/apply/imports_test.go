package apply

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/plan"
)

// What the project imports is tried once it is installed, each for itself: that some is
// missing, raises or ends Python is told, and the environment is made all the same.
func TestImportsAreTried(t *testing.T) {
	b := newBench(t)
	r := b.mustApply(b.plan("2.8.0+cu126", func(p *plan.Plan) {
		more := t.TempDir()
		for name, text := range map[string]string{"well.py": "print('noise')", "raises.py": "raise OSError('no libGL')", "ends.py": "import os; os._exit(3)",
			"needs.py": "import what_it_needs", "quits.py": "raise SystemExit", "second.py": "import sys; assert 'well' not in sys.modules",
			"lazy.py": "def __getattr__(name):\n    if name != 'held': raise AttributeError(name)\n    raise RuntimeError('needs libfoo')"} {
			if err := os.WriteFile(filepath.Join(more, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		p.Steps = slices.Insert(p.Steps, 2, plan.Step{ID: "more", Title: "more", Run: &plan.Run{Argv: []string{"cp", "-r", more + "/.", "{gen}/" + b.site}}})
		for _, m := range []string{"well", "second", "absent", "ends", "raises", "google.protobuf", "needs", "apex", "pytest", "quits", "json", "lazy"} {
			p.Target.Imported = append(p.Target.Imported, plan.Imported{Module: m, Package: map[string]string{"absent": "presence"}[m], Optional: m == "apex",
				Aside: m == "pytest", At: map[string]string{"absent": "train.py", "json": "main.py"}[m],
				Parts: map[string][]string{"json": {"json.loads", "json.decoder.JSONDecoder", "json.gone", "json.gone.inner", "json.decoder", "json.tool.main"}, "lazy": {"lazy.held", "lazy.held"},
					"absent": {"absent.part"}}[m]})
		}
	}))
	var missing, failed []string
	for _, m := range r.Imports.Missing {
		missing = append(missing, m.Module)
	}
	for _, m := range r.Imports.Failed {
		failed = append(failed, cmp.Or(m.Part, m.Module)+": "+m.Why)
	}
	if got := fmt.Sprint(r.Imports.Here, missing); got != "[well second json lazy] [absent google.protobuf apex pytest]" {
		t.Error(got)
	}
	if got := strings.Join(failed, "\n"); got != "ends: it ends the Python that imports it\nraises: OSError: no libGL\nneeds: No module named 'what_it_needs'\nquits: SystemExit:\n"+
		"json.gone: No module named 'json.gone'\nlazy.held: RuntimeError: needs libfoo" {
		t.Error(got)
	}
	for _, want := range []string{"imports: 8 of 12 modules that the project imports are there", "missing: absent: presence brings it",
		"missing for its tests, demos and scripts alone: pytest\n", "missing, and the project does without: apex\n", "not importable: json.gone: No module",
		"missing: google.protobuf: it is not known here", "not importable: raises: OSError: no libGL"} {
		if !strings.Contains(b.out.String(), want) {
			t.Errorf("no %q in\n%s", want, b.out.String())
		}
	}
	if strings.Contains(b.out.String(), "missing: apex") {
		t.Error("what it does without is no loss")
	}
	want := "[absent (train.py) google.protobuf ends raises needs quits json.gone lazy.held]"
	if got := fmt.Sprint(r.Imports.Short()); got != want || len((*Imports)(nil).Short()) > 0 {
		t.Error(got)
	}
}

// What comes to no end is named with all that was not tried behind it, and what one of them
// does not find with what brings that.
func TestImportsToNoEnd(t *testing.T) {
	all := []plan.Imported{{Module: "wandb"}, {Module: "hangs"}, {Module: "later"}}
	got := tryImports("python", all, func([]string) (string, bool) {
		return proofMark + `["wandb", "No module named 'pkg_resources'"]` + "\n", false
	})
	if w := strings.Join(got.words(), "\n"); w != "imports: 1 of 1 modules that the project imports are there\n"+
		"not importable: wandb: No module named 'pkg_resources': setuptools<=81.0.0 brings it\nnot tried: hangs, later: the first of them came to no end" {
		t.Error(w)
	}
}

// Packages that do not go together are told from libraries and packages that are not there.
func TestImportsDisagree(t *testing.T) {
	for why, want := range map[string]bool{
		"ImportError: cannot import name 'Cache' from 'transformers'":                 true,
		"ImportError: pyarrow requires NumPy 2.0 or newer, found 1.24.3":              true,
		"No module named 'torchvision.transforms.functional_tensor'":                  true,
		"ImportError: cannot import name 'Step' from 'mine.parts' (/x/mine/parts.py)": false, // the project alone
		"No module named 'wandb'": false,
		"ImportError: libGL.so.1: cannot open shared object file: No such file or directory": false,
		"OSError: no display":                false,
		"it ends the Python that imports it": false,
	} {
		if got := (&Imports{Failed: []FailedImport{{plan.Imported{Module: "mine"}, "", why}}}).Disagree(); got != want {
			t.Errorf("%s: %v", why, got)
		}
	}
	if (*Imports)(nil).Disagree() {
		t.Error("nothing was tried")
	}
}

// What is missing and known by its package can be asked for; what a project does without, and
// what nobody knows, cannot.
func TestImportsLack(t *testing.T) {
	lacks := func(m plan.Imported) bool { return (&Imports{Missing: []plan.Imported{m}}).Lacks() }
	if !lacks(plan.Imported{Module: "yaml", Package: "pyyaml"}) || lacks(plan.Imported{Module: "mine"}) ||
		lacks(plan.Imported{Module: "apex", Package: "apex", Optional: true}) || lacks(plan.Imported{Module: "pytest", Package: "pytest", Aside: true}) || (*Imports)(nil).Lacks() {
		t.Error("what is missing is not told apart")
	}
}
