//go:build linux

package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/testindex"
)

// What a package that is wrong takes comes, alone, be its files lost, itself, or its version
// another one than torch asks for: all else is linked from the environment in use, and nobody
// is said to have wished for anything.
func TestRestore(t *testing.T) {
	damages := []struct {
		name, change string
		do           func(t *testing.T, s *ownIndex, site string)
	}{
		{"files are lost", "1 change: numpy 2.1.0", func(t *testing.T, _ *ownIndex, site string) {
			if err := os.Remove(site + "/numpy/linalg.py"); err != nil {
				t.Fatal(err)
			}
		}},
		{"it is gone", "with     numpy\n", func(t *testing.T, _ *ownIndex, site string) {
			for _, dir := range []string{"/numpy", "/numpy-2.1.0.dist-info"} {
				if err := os.RemoveAll(site + dir); err != nil {
					t.Fatal(err)
				}
			}
		}},
		{"another version", "1 change: numpy 1.26.0", func(_ *testing.T, s *ownIndex, _ string) { s.more("numpy==1.26.0") }},
	}
	for i, damage := range damages {
		for _, manager := range []string{"uv", "pip"} {
			t.Run(damage.name+" "+manager, func(t *testing.T) {
				s := newOwnIndex(t, manager)
				for _, version := range []string{"1.26.0", "2.1.0"} {
					numpy := testindex.Wheel{Name: "numpy", Version: version, Files: map[string]string{"numpy/__init__.py": "from . import linalg\n", "numpy/linalg.py": "whole = True\n"}}
					s.public.Add(numpy)
					s.private.Add(numpy)
				}
				if i > 0 {
					torch := testindex.Torch("2.4.1", "12.1")
					torch.Requires = []string{"numpy>=2"}
					s.private.Add(torch)
				}
				s.install([]string{"torch==2.4.0", "torch==2.4.1"}[min(i, 1)], "acme==1.0", "numpy==2.1.0")
				env := filepath.Join(s.dir, ".venv")
				before := hashes(t, env)
				lost, err := filepath.Glob(filepath.Join(env, "lib/python*/site-packages/numpy/linalg.py"))
				if err != nil || len(lost) != 1 {
					t.Fatal(lost, err)
				}
				damage.do(t, s, filepath.Dir(filepath.Dir(lost[0])))
				out, _ := s.run("envfix", "doctor", "--fix", "--yes", "--manager", manager, "--mirror", "default="+s.public.URL)
				if !strings.Contains(out, "is copied beside by hard links") || !strings.Contains(out, damage.change) {
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
				if now := s.must(filepath.Join(env, "bin/python"), "-c", "from importlib.metadata import version; print(version('numpy'))"); now != "2.1.0\n" {
					t.Errorf("numpy is %s", now)
				}
				if out, err := s.run("envfix", "plan", "--offline"); err != nil || strings.Contains(out, "\nwish ") {
					t.Errorf("a wish was stored: %v\n%s", err, out)
				}
			})
		}
	}
}

// Where the index refuses the one package, the second choice builds the environment anew, and says so; where that fails
// too, all is as it was.
func TestRestoreRefused(t *testing.T) {
	for _, times := range []int{1, 1000} {
		s := newOwnIndex(t, "uv")
		numpy := testindex.Wheel{Name: "numpy", Version: "2.1.0", Files: map[string]string{"numpy/__init__.py": "from . import linalg\n", "numpy/linalg.py": "whole = True\n"}}
		torch := testindex.TorchBuild{Version: "2.4.1", Says: "2.4.1+cu121", CUDA: "12.1", CuDNN: 90100, Arches: strings.Fields("sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90")}.Wheel()
		s.public.Add(numpy, torch)
		s.private.Add(numpy, torch)
		s.install("torch==2.4.1", "acme==1.0", "numpy==2.1.0")
		env := filepath.Join(s.dir, ".venv")
		lost, err := filepath.Glob(filepath.Join(env, "lib/python*/site-packages/numpy/linalg.py"))
		if err != nil || len(lost) != 1 {
			t.Fatal(lost, err)
		}
		if err := os.Remove(lost[0]); err != nil {
			t.Fatal(err)
		}
		before := hashes(t, env)
		s.public.BreakTimes("/files/numpy-2.1.0-py3-none-any.whl", times, testindex.NotFound)
		out, err := s.run("envfix", append([]string{"doctor", "--fix", "--yes"}, s.wish...)...)
		said := []string{".venv is copied beside by hard links", ".venv is built anew and replaced at the end"}
		if times > 1 { // what stands on the other stream is kept where it ends in an error
			said = append(said, "the small change failed, and the environment is as it was; the second choice builds it anew")
		}
		if slices.ContainsFunc(said, func(s string) bool { return !strings.Contains(out, s) }) {
			t.Errorf("the second choice is not said: %v\n%s", err, out)
		}
		if _, err := os.Stat(lost[0]); (err == nil) != (times == 1) {
			t.Errorf("the file after %d refusals: %v\n%s", times, err, out)
		}
		if times == 1 {
			s.must(filepath.Join(env, "bin/acme"))
		} else if after := hashes(t, env); err == nil || !maps.Equal(before, after) {
			t.Errorf("it failed, and the environment is another one: %v\n%s", err, out)
		}
	}
}
