//go:build linux

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"envfix/internal/place"
	"envfix/internal/testindex"
	"envfix/internal/ui"

	"github.com/google/go-cmp/cmp"
)

// A package is added and removed beside the environment in use: no file of that changes,
// the programs of the new one run in it, and what is held is held.
func TestAdd(t *testing.T) {
	for _, manager := range []string{"uv", "pip"} {
		t.Run(manager, func(t *testing.T) {
			s := newOwnIndex(t, manager)
			s.install("torch==2.4.0", "acme==1.0", "acme-native==1.0")
			s.public.Add(testindex.Wheel{Name: "plus", Version: "1.0", Requires: []string{"acme"}, Scripts: map[string]string{"plus": "plus:main"}, Files: map[string]string{"plus/__init__.py": "def main():\n    import sys; print('plus', sys.prefix)\n"}},
				testindex.Wheel{Name: "newer", Version: "1.0", Requires: []string{"torch>2.4.0"}})
			change := func(verb, name string) (string, error) {
				return s.run("envfix", verb, "--yes", "--manager", manager, "--mirror", "default="+s.public.URL, name)
			}
			before, files := s.look(), hashes(t, filepath.Join(s.dir, ".venv"))
			if out, err := change("add", "plus"); err != nil {
				t.Fatal(out)
			}
			if logs, _ := filepath.Glob(filepath.Join(s.dir, ".envfix/logs/*-verify.log")); !slices.ContainsFunc(logs, func(log string) bool {
				b, err := os.ReadFile(log)
				return err == nil && strings.Contains(string(b), "full plus==\n")
			}) {
				t.Error("the proof imported more than what came")
			}
			place, err := filepath.EvalSymlinks(filepath.Join(s.dir, ".venv"))
			if err != nil {
				t.Fatal(err)
			}
			for _, program := range []string{"plus", "acme-tool"} {
				if got := s.must(filepath.Join(s.dir, ".venv/bin", program)); !strings.HasSuffix(got, place+"\n") {
					t.Errorf("%s runs elsewhere: %s", program, got)
				}
			}
			if after := s.look(); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
			if out := s.must("envfix", "exec", "--", "plus"); !strings.HasPrefix(out, "plus "+s.dir) {
				t.Errorf("exec: %s", out)
			}
			added := hashes(t, filepath.Join(s.dir, ".venv"))
			if out, err := change("add", "newer"); err == nil {
				t.Errorf("torch was not held:\n%s", out)
			}
			if out, err := change("remove", "acme"); err == nil || !strings.Contains(out, "plus 1.0 needs acme") {
				t.Errorf("what another one needs went:\n%s", out)
			}
			if out, err := change("remove", "plus"); err != nil || regexp.MustCompile(`(?m)^with .*plus`).MatchString(out) {
				t.Fatal(out)
			}
			if _, err := os.Stat(filepath.Join(s.dir, ".venv/bin/plus")); err == nil {
				t.Error("it is still there")
			}
			if did := strings.Join(strings.Fields(s.must("envfix", "history")), " "); !strings.Contains(did, ", added plus") || !strings.Contains(did, ", removed plus") {
				t.Errorf("history: %s", did)
			}
			s.must("envfix", "rollback")
			if diff := cmp.Diff(added, hashes(t, filepath.Join(s.dir, ".venv"))); diff != "" {
				t.Errorf("the environment with it was changed: %s", diff)
			}
			s.must("envfix", "rollback")
			if diff := cmp.Diff(files, hashes(t, filepath.Join(s.dir, ".venv"))); diff != "" {
				t.Errorf("the first environment was changed: %s", diff)
			}
			if out := s.must("envfix", "clean", "--yes"); strings.Count(out, "removed the environment") != 2 {
				t.Errorf("clean: %s", out)
			}
			list := filepath.Join(s.dir, "requirements.txt") // a project says itself what it needs
			if err := os.WriteFile(list, []byte("torch\nacme\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, step := range [][2]string{{"add", "torch\nacme\nplus\n"}, {"remove", "torch\nacme\n"}} {
				out, err := change(step[0], "plus")
				if b, _ := os.ReadFile(list); err != nil || string(b) != step[1] {
					t.Errorf("%s: %v, the list is %q\n%s", step[0], err, b, out)
				}
			}
		})
	}
}

// What torch's family requires in one version is held; what it requires within bounds moves
// for another package, which is said.
func TestAddMoves(t *testing.T) {
	s := newOwnIndex(t, "uv")
	s.private.Add(testindex.Wheel{Name: "torchvision", Version: "0.19.0", Requires: []string{"torch==2.4.0", "pillow!=8.3.*,>=1", "fixed==1.0.7"}})
	for _, version := range []string{"1.0", "2.0"} {
		for _, name := range []string{"pillow", "fixed"} {
			s.private.Add(testindex.Wheel{Name: name, Version: version + ".7"})
			s.public.Add(testindex.Wheel{Name: name, Version: version + ".7"})
		}
	}
	s.public.Add(testindex.Wheel{Name: "draws", Version: "1.0", Requires: []string{"pillow<2"}, Files: map[string]string{"draws/__init__.py": ""}},
		testindex.Wheel{Name: "other", Version: "1.0", Requires: []string{"fixed>=2"}, Files: map[string]string{"other/__init__.py": ""}})
	s.install("torch==2.4.0", "torchvision==0.19.0", "pillow==2.0.7", "fixed==1.0.7")
	if out, err := s.run("envfix", "add", "--yes", "--mirror", "default="+s.public.URL, "other"); err == nil || strings.Contains(out, "step 4 of 6") {
		t.Errorf("what torchvision requires exactly was moved, or came to the check: %v\n%s", err, out)
	}
	if out, err := s.run("envfix", "add", "--yes", "--mirror", "default="+s.public.URL, "draws"); err != nil {
		t.Fatal(out)
	}
	if moved, _ := filepath.Glob(filepath.Join(s.dir, ".venv/lib/*/site-packages/pillow-1.0.7.dist-info")); len(moved) != 1 {
		t.Errorf("pillow is not the one that goes beside: %s", moved)
	}
}

// A project's own tool writes its list and its lock; the environment follows with what the lock
// says, and torch held. Where that fails, both files are as they were.
func TestAddByOwnTool(t *testing.T) {
	s := newOwnIndex(t, "uv")
	s.install("torch==2.4.0", "acme==1.0")
	for _, version := range []string{"1.0", "2.0"} {
		s.public.Add(testindex.Wheel{Name: "plus", Version: version, Requires: []string{"acme"}, Files: map[string]string{"plus/__init__.py": ""}})
	}
	const list, lock = "[tool.poetry]\nname = \"x\"\n\n[tool.poetry.dependencies]\ntorch = \"*\"\n", "[[package]]\nname = \"torch\"\nversion = \"2.4.0\"\n"
	write := func(name, content string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("pyproject.toml", list, 0o600)
	bin := filepath.Join(strings.Split(strings.TrimPrefix(s.env[0], "PATH="), ":")[0])
	stub := filepath.Join(t.TempDir(), "poetry") // it takes the older one, as a lock may
	if err := os.WriteFile(stub, []byte("#!/bin/sh\n[ \"$2\" = --lock ] || exit 9\necho \"$1\" >>asked\n"+
		"if [ \"$1\" = add ]; then printf '%s = \"*\"\\n' \"$3\" >>pyproject.toml; printf '[[package]]\\nname = \"%s\"\\nversion = \"1.0\"\\n' \"$3\" >>poetry.lock\n"+
		"else sed -i \"/$3/d\" pyproject.toml; fi\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	change := func(verb, name string) (string, error) {
		return s.run("envfix", verb, "--yes", "--mirror", "default="+s.public.URL, name)
	}
	if out, err := change("add", "plus"); err == nil || !strings.Contains(out, "poetry add --lock plus") {
		t.Errorf("without its tool: %v\n%s", err, out)
	}
	if err := os.Symlink(stub, filepath.Join(bin, "poetry")); err != nil {
		t.Fatal(err)
	}
	write("poetry.lock", lock, 0o644)
	for _, refused := range []string{"torchvision", "nowhere"} {
		if out, err := change("add", refused); err == nil {
			t.Errorf("%s was added:\n%s", refused, out)
		}
		for name, want := range map[string]string{"pyproject.toml": list, "poetry.lock": lock} {
			if b, _ := os.ReadFile(filepath.Join(s.dir, name)); string(b) != want {
				t.Errorf("%s: %s is now\n%s", refused, name, b)
			}
		}
	}
	if b, _ := os.ReadFile(filepath.Join(s.dir, "asked")); string(b) != "add\n" {
		t.Errorf("what is refused was asked of poetry: %q", b)
	}
	if info, err := os.Stat(filepath.Join(s.dir, "pyproject.toml")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	out, err := change("add", "plus")
	if err != nil || !strings.Contains(out, "copied beside by hard links") {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(s.dir, ".venv/lib")); err != nil {
		t.Fatal(err)
	}
	if got, _ := filepath.Glob(filepath.Join(s.dir, ".venv/lib/python*/site-packages/plus-*")); len(got) != 1 || filepath.Base(got[0]) != "plus-1.0.dist-info" {
		t.Errorf("not what the lock says: %v", got)
	}
	if out, err := change("remove", "plus"); err != nil {
		t.Fatal(out)
	}
	if got, _ := filepath.Glob(filepath.Join(s.dir, ".venv/lib/python*/site-packages/plus*")); len(got) != 0 {
		t.Errorf("it is still there: %v", got)
	}
}

// hashes are those of the files of an environment, but for what Python compiles.
func hashes(t *testing.T, dir string) map[string]string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.Contains(path, "__pycache__") {
			return err
		}
		b, err := os.ReadFile(path)
		sum := sha256.Sum256(b)
		out[strings.TrimPrefix(path, dir)] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What is put before a variable that is not set leaves no empty element in it: the
// loader and the shell take one for the working directory.
func TestAssignPrepends(t *testing.T) {
	for old, want := range map[string]string{"": "/e/bin", "/usr/bin": "/e/bin" + string(os.PathListSeparator) + "/usr/bin"} {
		t.Setenv("ENVFIX_TEST_PATH", old)
		if err := place.Assign(ui.Assignment{Kind: ui.Prepend, Name: "ENVFIX_TEST_PATH", Value: "/e/bin"}); err != nil {
			t.Fatal(err)
		}
		if got := os.Getenv("ENVFIX_TEST_PATH"); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
