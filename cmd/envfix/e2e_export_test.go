package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/testindex"

	"gopkg.in/yaml.v3"
)

// clusterForms are the forms for what starts machines and jobs, the validator of each
// (Python with "FILE", or a program), and an edit that it must refuse. What development
// containers publish is a schema: DEVCONTAINER_SCHEMA is its file.
var clusterForms = []struct {
	form, file string
	validator  []string // of the folder in ENVFIX_VALIDATORS, or of PATH
	was, wrong string
}{
	{"kubernetes", "job.yaml", []string{"kubernetes-validate", "--strict", "FILE"}, "nodeSelectorTerms:", "nodeSelectorTerm:"},
	{"sky", "sky.yaml", []string{"python", "-c", "import sky, sys; sky.Task.from_yaml(sys.argv[1]).validate_name()", "FILE"}, "\nsetup:", "\nset_up:"},
	{"dstack", "dstack.yaml", []string{"python", "-c",
		"import sys, yaml; from dstack._internal.core.models.configurations import parse_run_configuration as p; p(yaml.safe_load(open(sys.argv[1])))", "FILE"},
		"\ncommands:", "\ncomands:"},
	{"cloud-init", "user-data", []string{"cloud-init", "schema", "-c", "FILE"}, "write_files:\n  - path:", "write_files:\n  - pth:"},
	{"ray", "ray.yaml", []string{"python", "-c",
		"import sys, yaml; from ray.runtime_env import RuntimeEnv; RuntimeEnv(**yaml.safe_load(open(sys.argv[1])))", "FILE"},
		"\n  uv_version:", "\n  uv_versoin:"},
	{"devcontainer", "devcontainer.json", []string{"python", "-c",
		"import json, os, sys, jsonschema; jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(os.environ['DEVCONTAINER_SCHEMA'])))", "FILE"},
		`{ "dockerfile"`, `{ "dockerfil"`},
}

// clusterLock makes a lock with a profile for two kinds of GPU and one for Windows.
func clusterLock(t *testing.T) string {
	t.Helper()
	build(t) // from this folder, before the lock's own is the working directory
	x := testindex.Serve(t, testindex.Torch("2.15.0", "13.2", archFlags(t, "2.15.0", "cu132")...))
	dir := t.TempDir()
	wantExit(t, lockIn(t, dir, "lock", "torch", "--mirror", "default="+x.URL, "--only-index", "default",
		"--target", "gpu=gpu=9.0,10.0 driver=580 python=3.12", "--target", "win=os=windows gpu=none python=3.12"), fail.OK)
	return dir
}

func exported(t *testing.T, form, profile string) string {
	t.Helper()
	cmd := exec.Command(build(t), "lock", "export", "--format", form, "--profile", profile)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", form, err)
	}
	return string(out)
}

// Each form parses, names the floor of the driver and the proof, and says that it was
// run nowhere; a profile for Windows is refused.
func TestClusterExports(t *testing.T) {
	clusterLock(t)
	for _, f := range clusterForms {
		text := exported(t, f.form, "gpu")
		var parsed map[string]any
		if f.form == "devcontainer" {
			if err := json.Unmarshal([]byte(text), &parsed); err != nil {
				t.Errorf("%s: %v", f.form, err)
			}
		} else if err := yaml.Unmarshal([]byte(text), &parsed); err != nil {
			t.Errorf("%s: %v\n%s", f.form, err, text)
		}
		if f.form != "devcontainer" && !strings.Contains(text, "on no ") {
			t.Errorf("%s does not say that it was run nowhere", f.form)
		}
		if f.form != "ray" && !strings.Contains(text, "torch.version.cuda == '13.2'") {
			t.Errorf("%s proves nothing:\n%s", f.form, text)
		}
		wantExit(t, lockIn(t, ".", "lock", "export", "--format", f.form, "--profile", "win"), fail.Usage)
	}
	job := exported(t, "kubernetes", "gpu")
	for _, want := range []string{`{key: nvidia.com/cuda.driver-version.major, operator: Gt, values: ["579"]}`,
		`{key: nvidia.com/gpu.compute.major, operator: In, values: ["10"]}`,
		`value: "driver>=580"`} {
		if !strings.Contains(job, want) {
			t.Errorf("no %s in\n%s", want, job)
		}
	}
}

// TestE2EExports gives each form to its own validator, and one with a fault that the
// validator must refuse: what accepts everything would prove nothing.
func TestE2EExports(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" && os.Getenv("ENVFIX_VALIDATORS") == "" {
		t.Skip("needs ENVFIX_E2E=1; ENVFIX_VALIDATORS=DIR names programs by pip (make e2e-export)")
	}
	clusterLock(t)
	writeText(t, "requirements.gpu.txt", exported(t, "requirements", "gpu"))
	for _, f := range clusterForms {
		t.Run(f.form, func(t *testing.T) {
			if f.form == "devcontainer" && os.Getenv("DEVCONTAINER_SCHEMA") == "" {
				t.Skip("needs DEVCONTAINER_SCHEMA=FILE: schemas/devContainer.base.schema.json of github.com/devcontainers/spec")
			}
			program := filepath.Join(os.Getenv("ENVFIX_VALIDATORS"), f.validator[0])
			if _, err := os.Stat(program); err != nil || os.Getenv("ENVFIX_VALIDATORS") == "" {
				if f.validator[0] == "python" {
					t.Skip("needs the tool's own Python: ENVFIX_VALIDATORS=DIR (make e2e-export)")
				}
				if program, err = exec.LookPath(f.validator[0]); err != nil {
					t.Skip(f.validator[0] + " is not installed (make e2e-export)")
				}
			}
			check := func(text string) error {
				writeText(t, f.file, text)
				var args []string
				for _, a := range f.validator[1:] {
					args = append(args, strings.ReplaceAll(a, "FILE", f.file))
				}
				cmd := exec.Command(program, args...)
				cmd.Env = append(os.Environ(), "SKYPILOT_DISABLE_USAGE_COLLECTION=1")
				out, err := cmd.CombinedOutput()
				t.Logf("%s: %v\n%s", f.validator[0], err, out)
				return err
			}
			text := exported(t, f.form, "gpu")
			if err := check(text); err != nil {
				t.Errorf("refused:\n%s", text)
			}
			if !strings.Contains(text, f.was) {
				t.Fatalf("no %q in\n%s", f.was, text)
			}
			if err := check(strings.Replace(text, f.was, f.wrong, 1)); err == nil {
				t.Errorf("one with %q is accepted as well", f.wrong)
			}
		})
	}
}

// TestE2EDockerfile has a linter read the Dockerfile, and one with a fault that it must
// name.
func TestE2EDockerfile(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" && os.Getenv("ENVFIX_VALIDATORS") == "" {
		t.Skip("needs ENVFIX_E2E=1; ENVFIX_VALIDATORS=DIR names programs by pip (make e2e-export)")
	}
	hadolint := filepath.Join(os.Getenv("ENVFIX_VALIDATORS"), "hadolint")
	if _, err := os.Stat(hadolint); err != nil {
		if hadolint, err = exec.LookPath("hadolint"); err != nil {
			t.Skip("hadolint is not installed (make e2e-export)")
		}
	}
	clusterLock(t)
	text := exported(t, "dockerfile", "gpu")
	writeText(t, "Dockerfile", text)
	if out, err := exec.Command(hadolint, "Dockerfile").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, text)
	}
	writeText(t, "Dockerfile", strings.Replace(text, "uv==", "uv>=", 1))
	if out, err := exec.Command(hadolint, "Dockerfile").CombinedOutput(); err == nil || !strings.Contains(string(out), "DL3013") {
		t.Errorf("a tool without its version is let pass: %v\n%s", err, out)
	}
}
