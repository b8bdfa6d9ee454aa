//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/observe/verdict"
)

// TestRunNoGPU: where there is no GPU, the run says of the Python of a job that fails what
// doctor says of it, and a recording of the run says the same.
func TestRunNoGPU(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on PATH")
	}
	root, _ := filepath.EvalSymlinks(t.TempDir())
	env := filepath.Join(root, "of the job")
	if out, err := exec.Command(python, "-m", "venv", "--without-pip", env).CombinedOutput(); err != nil {
		t.Skipf("no environment can be made: %v\n%s", err, out)
	}
	sites, _ := filepath.Glob(env + "/lib/python3*/site-packages")
	write := func(name, text string) {
		path := filepath.Join(sites[0], name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("torch/__init__.py", "__version__ = '2.8.0+cu128'\n")
	write("torch/version.py", "__version__ = '2.8.0+cu128'\ncuda = '12.8'\n")
	write("torch-2.8.0+cu128.dist-info/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 2.8.0+cu128\n")
	inside := filepath.Join(env, "bin", "python")

	o := outcomeOf(t, envfixCommand(t, nil, "doctor", "--json", "--env", env), "")
	var want doctorAnswer
	if err := json.Unmarshal([]byte(o.Stdout), &want); err != nil || len(want.Findings) == 0 {
		t.Fatalf("%v: %+v", err, o)
	}
	saved := filepath.Join(root, "job.efx")
	r, o := reportOf(t, nil, "--save", saved, "--", inside, "-c", "print(1); raise SystemExit(3)") // as one that wants a GPU
	if o.Stdout != "1\n" || o.Code != 3 {
		t.Errorf("%+v", o)
	}
	agrees(t, r.Finding, want)
	o = outcomeOf(t, envfixCommand(t, nil, "run", "--json", "--replay", saved), "")
	var again verdict.Report
	if err := json.Unmarshal([]byte(o.Stdout), &again); err != nil {
		t.Fatalf("%v: %+v", err, o)
	}
	agrees(t, again.Finding, want)

	other, _ := reportOf(t, nil, "--", inside, "-c", "print(1)") // which does without torch: nothing is said of that
	if other.Finding.Verdict != verdict.NoGPU || strings.Contains(other.Finding.Text, "built for CUDA") {
		t.Errorf("%+v", other.Finding)
	}
}

// agrees wants a verdict to say what doctor says first.
func agrees(t *testing.T, f verdict.Finding, want doctorAnswer) {
	t.Helper()
	first := want.Findings[0]
	text, loaded, _ := strings.Cut(f.Text, "; no process of this job loaded PyTorch")
	fix := append(slices.Clone(first.Fix), f.Fix[len(f.Fix)-1])
	if f.Verdict != verdict.NoGPU || !strings.HasSuffix(text, first.Text) || loaded == "" || !slices.Equal(f.Fix, fix) || f.Evidence["doctor"] != first.Check {
		t.Errorf("the run: %+v\ndoctor: %+v", f, first)
	}
}
