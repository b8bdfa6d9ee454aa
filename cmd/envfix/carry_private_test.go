//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/plan"
	"envfix/internal/testindex"
)

// Packages of a private index are carried over by their files: the index in use, which
// has others of their names, is not asked for them, and nothing of it runs.
func TestThreat04PrivatePackages(t *testing.T) {
	for _, manager := range []string{"uv", "pip"} {
		t.Run(manager, func(t *testing.T) {
			s := newOwnIndex(t, manager)
			s.install("torch==2.4.0", "acme==1.0", "acme-native==1.0")
			before := s.look()
			s.must("envfix", append([]string{"apply", "--yes"}, s.wish...)...)
			s.clean(before)
			if _, err := os.Stat(filepath.Join(s.dir, ".venv/envfix-carried")); err == nil {
				t.Error("the copies still lie there")
			}
		})
	}
}

// The script of a plan does the same without envfix.
func TestThreat04PrivatePackagesByScript(t *testing.T) {
	s := newOwnIndex(t, "uv")
	s.install("torch==2.4.0", "acme==1.0", "acme-native==1.0")
	before := s.look()
	script := s.must("envfix", append([]string{"plan", "--sh"}, s.wish...)...)
	if err := os.WriteFile(filepath.Join(s.dir, "script"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	s.must("/bin/sh", "script")
	s.clean(before)
}

// A file that was changed since it was installed is not carried on unseen: one of
// another size or a later time is seen in the plan, any other before a switch.
func TestThreat04ChangedFiles(t *testing.T) {
	s := newOwnIndex(t, "uv")
	s.install("torch==2.4.0", "acme==1.0", "acme-native==1.0")
	files, err := filepath.Glob(filepath.Join(s.dir, ".venv/lib/python*/site-packages/acme/__init__.py"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	info, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	text[0] ^= 1
	if os.Remove(files[0]) != nil || os.WriteFile(files[0], text, 0o600) != nil || os.Chtimes(files[0], info.ModTime(), info.ModTime()) != nil {
		t.Fatal("not written")
	}
	out, err := s.run("envfix", append([]string{"apply", "--yes"}, s.wish...)...)
	for _, want := range []string{"acme==1.0: acme/__init__.py is not what was installed", "`--drop acme` leaves it behind"} {
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("no %q: %v\n%s", want, err, out)
		}
	}
	if err := os.WriteFile(files[0], append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := s.must("envfix", append([]string{"plan"}, s.wish...)...); !strings.Contains(strings.Join(strings.Fields(out), " "), "acme 1.0 cannot stay: nothing proves its files") {
		t.Error(out)
	}
	s.unasked()
}

// An ownIndex is a project whose packages are of a private index, and beside it an index
// that has hostile ones of the same names.
type ownIndex struct {
	*testing.T
	dir, mark       string
	env, wish       []string
	manager         string
	private, public *testindex.Index
}

func newOwnIndex(t *testing.T, manager string) *ownIndex {
	s := &ownIndex{T: t, dir: t.TempDir(), mark: filepath.Join(t.TempDir(), "ran"), manager: manager}
	uv, bin := testindex.UV(t), t.TempDir()
	if err := os.Symlink(build(t), filepath.Join(bin, "envfix")); err != nil {
		t.Fatal(err)
	}
	s.env = []string{"PATH=" + strings.Join([]string{bin, filepath.Dir(uv), filepath.Dir(testindex.Python(t)), "/usr/bin", "/bin"}, ":"), "HOME=" + t.TempDir(), "NO_COLOR=1"}
	s.wish = []string{"--gpu", "H100 80GB HBM3", "--driver", "580.95.05", "--only-index", "default", "--manager", manager}
	p, err := plan.Decode([]byte(s.must("envfix", append([]string{"plan", "--json"}, s.wish...)...)))
	if err != nil {
		t.Fatal(err)
	}
	python := strings.ReplaceAll(p.Python, ".", "")
	own := []testindex.Wheel{
		{Name: "acme", Version: "1.0", Scripts: map[string]string{"acme": "acme:main"}, Files: map[string]string{
			"acme/__init__.py":  "def main():\n    print('private')\n",
			"acme/a, \"b\".txt": "a name with a comma",
			"acme/__pycache__/__init__.cpython-" + python + ".pyc": "compiled elsewhere",
			"acme-1.0.data/scripts/acme-tool":                      "#!python\nimport acme, sys\nprint('tool', sys.prefix)\n",
			"acme-1.0.data/data/share/acme/it":                     "shared",
		}},
		{Name: "acme-native", Version: "1.0", Tag: "cp" + python + "-cp" + python + "-linux_x86_64"},
	}
	var evil []testindex.Wheel
	for _, w := range own {
		evil = append(evil, testindex.Wheel{Name: w.Name, Version: w.Version, Files: map[string]string{
			"evil-" + w.Name + ".pth": "import os; open('" + s.mark + "', 'w').close()\n"}})
	}
	s.private = testindex.Serve(t, append(own, testindex.Torch("2.4.0", "12.1"))...)
	s.public = testindex.Serve(t, append(evil, standInWheels(p)...)...)
	s.wish = append(s.wish, "--mirror", "default="+s.public.URL)
	return s
}

func (s *ownIndex) run(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	for _, kv := range s.env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok && !strings.Contains(name, "/") {
			cmd = exec.Command(filepath.Join(strings.Split(path, ":")[map[string]int{"envfix": 0, "uv": 1}[name]], name), args...)
		}
	}
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		out = append(out, exit.Stderr...)
	}
	return string(out), err
}

func (s *ownIndex) must(name string, args ...string) string {
	s.Helper()
	out, err := s.run(name, args...)
	if err != nil {
		s.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

func (s *ownIndex) install(packages ...string) {
	s.Helper()
	if s.manager == "uv" {
		s.must("uv", "venv", "--quiet", "--python", testindex.Python(s), ".venv")
	} else {
		s.must(testindex.Python(s), "-m", "venv", ".venv")
	}
	s.more(packages...)
}

// more installs packages into what is there, by the installer alone.
func (s *ownIndex) more(packages ...string) {
	s.Helper()
	if s.manager == "uv" {
		s.must("uv", append([]string{"pip", "install", "--quiet", "--no-deps", "--python", ".venv/bin/python", "--default-index", s.private.URL}, packages...)...)
		return
	}
	s.must(filepath.Join(s.dir, ".venv/bin/python"), append([]string{"-m", "pip", "install", "--quiet", "--no-deps", "--index-url", s.private.URL}, packages...)...)
}

// look is what the private packages do and where they are from.
func (s *ownIndex) look() string {
	s.Helper()
	venv := filepath.Join(s.dir, ".venv")
	return s.must(filepath.Join(venv, "bin/acme")) + strings.Fields(s.must(filepath.Join(venv, "bin/acme-tool")))[0] +
		s.must(filepath.Join(venv, "bin/python"), "-c", `
import acme, acme_native, os, sys
from importlib.metadata import distribution
print([open(os.path.join(os.path.dirname(acme.__file__), n)).read() for n in ('a, "b".txt', '../../../../share/acme/it')])
print([distribution(n).read_text("direct_url.json") for n in ("acme", "acme-native")])
print(sorted((str(f), f.hash and f.hash.value) for f in distribution("acme").files if f.hash and ".dist-info" not in str(f) and "bin/" not in str(f) and "__pycache__" not in str(f)))`)
}

func (s *ownIndex) clean(before string) {
	s.Helper()
	if after := s.look(); after != before {
		s.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if got := s.must(filepath.Join(s.dir, ".venv/bin/acme-tool")); !strings.HasPrefix(got, "tool "+s.dir) {
		s.Errorf("another Python runs its program: %s", got)
	}
	if got := s.must(filepath.Join(s.dir, ".venv/bin/python"), "-c", "import torch; print(torch.__version__)"); strings.HasPrefix(got, "2.4.0") {
		s.Errorf("torch is %s", got)
	}
	s.unasked()
}

func (s *ownIndex) unasked() {
	s.Helper()
	if _, err := os.Stat(s.mark); err == nil {
		s.Error("code of the other index ran")
	}
	for _, path := range s.public.Requests() {
		if strings.Contains(path, "acme") {
			s.Errorf("the index in use was asked for %s", path)
		}
	}
}
