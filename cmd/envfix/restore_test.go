//go:build linux

package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/testindex"
)

// A package that is not whole comes again, alone: all else is linked from the environment
// in use, and nobody is said to have wished for anything.
func TestRestore(t *testing.T) {
	for _, manager := range []string{"uv", "pip"} {
		t.Run(manager, func(t *testing.T) {
			s := newOwnIndex(t, manager)
			numpy := testindex.Wheel{Name: "numpy", Version: "2.1.0", Files: map[string]string{"numpy/__init__.py": "from . import linalg\n", "numpy/linalg.py": "whole = True\n"}}
			s.public.Add(numpy)
			s.private.Add(numpy)
			s.install("torch==2.4.0", "acme==1.0", "numpy==2.1.0")
			env := filepath.Join(s.dir, ".venv")
			before := hashes(t, env)
			lost, err := filepath.Glob(filepath.Join(env, "lib/python*/site-packages/numpy/linalg.py"))
			if err != nil || len(lost) != 1 {
				t.Fatal(lost, err)
			}
			if err := os.Remove(lost[0]); err != nil {
				t.Fatal(err)
			}
			out, _ := s.run("envfix", "doctor", "--fix", "--yes", "--manager", manager, "--mirror", "default="+s.public.URL)
			if !strings.Contains(out, "is copied beside by hard links") || !strings.Contains(out, "1 change: numpy 2.1.0") {
				t.Errorf("not by the smallest change:\n%s", out)
			}
			after := hashes(t, env)
			for name := range maps.Keys(after) {
				if before[name] == "" || before[name] == after[name] || strings.Contains(name, "numpy") || !strings.Contains(name, "/site-packages/") {
					delete(after, name)
				}
			}
			if len(after) > 0 {
				t.Errorf("changed besides: %v\n%s", after, out)
			}
			if _, err := os.Stat(lost[0]); err != nil {
				t.Errorf("it is not there again: %v\n%s", err, out)
			}
			if out, err := s.run("envfix", "plan", "--offline"); err != nil || strings.Contains(out, "\nwish ") {
				t.Errorf("a wish was stored: %v\n%s", err, out)
			}
		})
	}
}
