package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// An actionFile is what the test reads of action.yml.
type actionFile struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Steps []struct {
			Run string
			Env map[string]string
		}
	}
}

// TestAction runs the steps of action.yml as a runner does: each in bash, with its
// inputs in variables, and the folders and files that a runner names.
func TestAction(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash")
	}
	r := trial(t)
	installer(r)
	text, err := os.ReadFile("action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action actionFile
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, ran, summary string
		inputs             map[string]string
		code               int
	}{
		{name: "doctor", ran: "doctor --markdown", summary: "a finding\n\nexit code 4"},
		{name: "told not to fail", inputs: map[string]string{"fail": "false"}, ran: "doctor --markdown", summary: "exit code 4"},
		{name: "plan", inputs: map[string]string{"command": "plan", "args": "--gpu\nRTX 5090; touch oops\n"}, ran: "plan --gpu RTX 5090; touch oops", summary: "### envfix plan\n\n    ran"},
		{name: "lock", inputs: map[string]string{"command": "lock-check"}, ran: "lock --check", summary: "### envfix lock-check"},
		{name: "sarif", inputs: map[string]string{"sarif": "out.sarif"}, ran: "doctor --sarif", summary: "a finding"},
		{name: "another command", inputs: map[string]string{"command": "apply"}, code: 2},
		{name: "another digest", inputs: map[string]string{"sha256": strings.Repeat("0", 64)}, code: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.code == 0 && test.inputs["fail"] == "" {
				test.code = 4
			}
			w := newRunner(t, r, serveSaying(t))
			out, code := w.run(t, bash, action, test.inputs)
			summary := w.read(t, "summary")
			if code != test.code || !strings.Contains(w.read(t, "log"), test.ran) || !strings.Contains(summary, test.summary) {
				t.Errorf("it ended with %d and said %q, the summary is %q, envfix was started as %q", code, out, summary, w.read(t, "log"))
			}
			if _, err := os.Stat(filepath.Join(w.dir, "work", "oops")); err == nil {
				t.Error("an argument was run as a command")
			}
			if file := test.inputs["sarif"]; file != "" && w.read(t, "work/"+file) == "" {
				t.Error("no SARIF was written")
			}
		})
	}
}

// serveSaying serves a release whose program says how it was started and ends with 4.
func serveSaying(t *testing.T) *served {
	t.Helper()
	s := serve(t)
	script := "#!/bin/sh\n[ \"$1\" = --version ] && exec echo envfix 1.2.3\nprintf '%s ' \"$@\" >>\"$LOG\"\necho >>\"$LOG\"\necho \"ran $1\"; echo 'a finding'\nexit 4\n"
	b := gzipped(tarball([]entry{{"envfix", 0o755, []byte(script)}}, trialTime))
	s.publish(b)
	return s
}

// A runner is the folder of one job.
type runner struct {
	dir string
	env []string
}

func newRunner(t *testing.T, r *Release, s *served) *runner {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"work", "temp", "home"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &runner{dir, []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir + "/home", "LOG=" + dir + "/log", "ENVFIX_URL=" + s.url, "RUNNER_TEMP=" + dir + "/temp",
		"GITHUB_ACTION_PATH=" + r.Out, "GITHUB_PATH=" + dir + "/path", "GITHUB_OUTPUT=" + dir + "/output", "GITHUB_STEP_SUMMARY=" + dir + "/summary",
	}}
}

func (w *runner) read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

// run carries the steps out until one fails, and returns what was printed and the
// exit code.
func (w *runner) run(t *testing.T, bash string, action actionFile, inputs map[string]string) (string, int) {
	t.Helper()
	var said strings.Builder
	for i, step := range action.Runs.Steps {
		script := filepath.Join(w.dir, fmt.Sprintf("step%d.sh", i))
		if err := os.WriteFile(script, []byte(step.Run), 0o644); err != nil {
			t.Fatal(err)
		}
		env := append([]string{}, w.env...)
		for name, from := range step.Env {
			input := strings.TrimSuffix(strings.TrimPrefix(from, "${{ inputs."), " }}")
			value, set := inputs[input]
			if !set {
				value = action.Inputs[input].Default
			}
			env = append(env, name+"="+value)
		}
		if added := strings.TrimSpace(w.read(t, "path")); added != "" {
			env[0] = "PATH=" + added + ":" + os.Getenv("PATH")
		}
		cmd := exec.Command(bash, "--noprofile", "--norc", "-eo", "pipefail", script)
		cmd.Dir, cmd.Env = filepath.Join(w.dir, "work"), env
		out, _ := cmd.CombinedOutput()
		said.Write(out)
		if code := cmd.ProcessState.ExitCode(); code != 0 {
			return said.String(), code
		}
	}
	return said.String(), 0
}
