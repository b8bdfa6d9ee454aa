package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/testindex"
)

// A project's file is written where that is asked for, after uv itself locked what is written;
// where uv makes another choice of it, the plan says so.
func TestEdit(t *testing.T) {
	t.Setenv("ENVFIX_QUICK", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	x, own := teamIndex(t), teamIndex(t)
	own.Add(testindex.Wheel{Name: "torch", Version: "2.14.1+cu126"})
	x.Add(testindex.Wheel{Name: "torch", Version: "2.14.1"}, testindex.Wheel{Name: "torch", Version: "2.15.0"},
		testindex.Wheel{Name: "lib", Version: "1.0", Requires: []string{"torch"}}, testindex.Wheel{Name: "stuck", Version: "1.0", Requires: []string{"torch==2.15.0"}})
	dir := t.TempDir()
	plans := func(project string, args ...string) (*plan.Plan, string) {
		t.Helper()
		writeText(t, filepath.Join(dir, "pyproject.toml"), "[project]\nname = 'x'\nversion = '1'\nrequires-python = '>=3.10'\n"+project)
		code, said := lockSays(t, dir, append([]string{"plan", "--gpu", "RTX 4090", "--driver", "570.133.20", "--os", "linux", "--arch", "x86_64", "--libc", "glibc-2.35",
			"--python", "3.12", "--mirror", "default=" + x.URL, "--mirror", "https://download.pytorch.org/whl/cu126=" + own.URL, "--json", ".", "torch==2.14.1"}, args...)...)
		p := &plan.Plan{}
		if err := json.Unmarshal([]byte(said[strings.Index(said, "{"):]), p); code != fail.OK || err != nil {
			t.Fatalf("exit %d, %v: %s", code, err, said)
		}
		return p, strings.Join(p.Warnings, "\n")
	}
	if p, _ := plans("dependencies = ['lib']\n"); strings.Contains(p.Steps[len(p.Steps)-1].ID, "edit") {
		t.Error("it is edited unasked")
	}
	p, said := plans("dependencies = ['lib']\n", "--edit")
	last := p.Steps[len(p.Steps)-1]
	if last.Write == nil || last.Write.Path != "pyproject.toml" || !strings.Contains(last.Write.Content, own.URL) || strings.Contains(said, "--edit") || strings.Contains(said, "decides") {
		t.Errorf("%+v, %s", last, said)
	}
	for project, want := range map[string]string{
		"dependencies = ['lib']\n[tool.uv]\noverride-dependencies = ['torch==2.15.0']\n":               "with what `--edit` writes uv locks nothing: ",
		"dependencies = ['lib']\n[tool.uv]\noverride-dependencies = [\"torch; sys_platform=='no'\"]\n": "the project decides: with what `--edit` writes, `uv sync` installs no torch",
	} {
		if _, said = plans(project, "--edit"); !strings.Contains(said, want) {
			t.Errorf("uv's own choice: %s", said)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("a plan left %v", left)
	}
}
