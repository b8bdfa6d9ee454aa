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

// documented is the first block of a language in the documentation of locks.
func documented(t *testing.T, language string) string {
	t.Helper()
	text := fileText(t, filepath.Join(testdata(t, ""), "../../../docs/lock.md"))
	_, block, ok := strings.Cut(text, "```"+language+"\n")
	block, _, end := strings.Cut(block, "```")
	if !ok || !end {
		t.Fatalf("docs/lock.md has no block of %s", language)
	}
	return block
}

// A step is one of a documented job.
type step struct {
	Name string `yaml:"name"`
	Run  string `yaml:"run"`
}

// TestE2ELockWorkflow carries out the documented job on a branch that changes a
// requirements file, as Renovate and Dependabot make them: by hand, or as the real
// Renovate looks it up where RENOVATE names its program.
func TestE2ELockWorkflow(t *testing.T) {
	if os.Getenv("ENVFIX_E2E")+os.Getenv("ENVFIX_E2E_LOCK") == "" {
		t.Skip("needs ENVFIX_E2E=1 (make e2e) or ENVFIX_E2E_LOCK=1 (make e2e-lock)")
	}
	var job struct {
		Jobs struct {
			Lock struct {
				Steps []step `yaml:"steps"`
			} `yaml:"lock"`
		} `yaml:"jobs"`
	}
	if err := yaml.Unmarshal([]byte(documented(t, "yaml")), &job); err != nil || len(job.Jobs.Lock.Steps) != 4 {
		t.Fatalf("%v, %d steps", err, len(job.Jobs.Lock.Steps))
	}
	envfix, x := build(t), teamIndex(t)
	x.Add(testindex.Wheel{Name: "idna", Version: "3.0"})
	origin, ann, bot, runner := t.TempDir(), filepath.Join(t.TempDir(), "ann"), filepath.Join(t.TempDir(), "bot"), filepath.Join(t.TempDir(), "runner")
	gitAuthor(t)
	must(t, "git", "init", "-q", "--bare", "-b", "main", origin)
	must(t, "git", "clone", "-q", origin, ann)
	writeText(t, filepath.Join(ann, "requirements.txt"), "torch\nidna==3.0\n")
	writeText(t, filepath.Join(ann, "renovate.json"), documented(t, "json"))
	writeText(t, filepath.Join(ann, "envfix.toml"), "files = ['requirements.txt']\n[targets]\nrtx = 'gpu=12.0 driver=580 python=3.12'\nlaptop = 'os=macos python=3.12'\n")
	wantExit(t, lockIn(t, ann, "lock", "--mirror", "default="+x.URL), fail.OK)
	must(t, "git", "add", "-A")
	must(t, "git", "commit", "-qm", "one")
	must(t, "git", "push", "-q", "origin", "HEAD:main")

	x.Add(testindex.Wheel{Name: "idna", Version: "3.1"})
	must(t, "git", "clone", "-q", origin, bot)
	t.Chdir(bot)
	must(t, "git", "checkout", "-q", "-b", "renovate/idna-3.x")
	if version := newest(t, x, "idna"); version != "3.1" {
		t.Fatalf("idna %q is looked up", version)
	}
	writeText(t, "requirements.txt", strings.Replace(fileText(t, "requirements.txt"), "idna==3.0", "idna==3.1", 1))
	must(t, "git", "commit", "-qam", "update idna")
	must(t, "git", "push", "-q", "origin", "renovate/idna-3.x")
	wantExit(t, lockIn(t, bot, "lock", "--check", "--offline"), fail.Pending)

	must(t, "git", "clone", "-q", "-b", "renovate/idna-3.x", origin, runner)
	path := filepath.Dir(envfix) + ":" + filepath.Dir(testindex.UV(t)) + ":" + os.Getenv("PATH")
	for _, s := range job.Jobs.Lock.Steps {
		if s.Run == "" || s.Name == "tools" { // those are here
			continue
		}
		cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", s.Run)
		cmd.Dir, cmd.Env = runner, append(os.Environ(), "PATH="+path, "UV_CACHE_DIR="+t.TempDir(), "UV_DEFAULT_INDEX="+x.URL)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("step %s: %v\n%s", s.Name, err, out)
		}
	}
	fresh := filepath.Join(t.TempDir(), "fresh")
	must(t, "git", "clone", "-q", "-b", "renovate/idna-3.x", origin, fresh)
	wantExit(t, lockIn(t, fresh, "lock", "--check", "--offline"), fail.OK)
	for _, profile := range []string{"rtx", "laptop"} {
		if got := lockedPackages(t, profile)["idna"]; got != "3.1" {
			t.Errorf("%s: idna %s is locked", profile, got)
		}
	}
}

// gitAuthor gives commits an author.
func gitAuthor(t *testing.T) {
	for name, value := range map[string]string{"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"} {
		t.Setenv(name, value)
	}
}

// newest is the version of a package that the real Renovate would write into the
// requirements file here; without Renovate it is what a person reads on the index.
func newest(t *testing.T, x *testindex.Index, name string) string {
	t.Helper()
	renovate := os.Getenv("RENOVATE")
	if renovate == "" {
		t.Log("RENOVATE is not set: its look-up is not tried")
		return "3.1"
	}
	cmd := exec.Command(renovate, "--platform=local", "--dry-run=lookup", "--onboarding=false")
	rules, err := json.Marshal([]any{map[string]any{"matchDatasources": []string{"pypi"}, "registryUrls": []string{x.URL + "/"}}})
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "LOG_LEVEL=debug", "LOG_FORMAT=json", "RENOVATE_PACKAGE_RULES="+string(rules))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("renovate: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		var said struct {
			Config map[string][]struct {
				File string `json:"packageFile"`
				Deps []struct {
					Name    string `json:"depName"`
					Updates []struct {
						Version string `json:"newVersion"`
					} `json:"updates"`
				} `json:"deps"`
			} `json:"config"`
		}
		if json.Unmarshal([]byte(line), &said) != nil {
			continue
		}
		for _, f := range said.Config["pip_requirements"] {
			for _, d := range f.Deps {
				if d.Name == name && len(d.Updates) > 0 {
					t.Logf("Renovate finds %s %s for %s", name, d.Updates[0].Version, f.File)
					return d.Updates[0].Version
				}
			}
		}
	}
	t.Fatalf("Renovate found no update of %s:\n%s", name, out)
	return ""
}
