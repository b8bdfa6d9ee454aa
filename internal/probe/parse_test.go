package probe

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/probe/python"

	"github.com/google/go-cmp/cmp"
)

// pyenv's Pythons are found by its shims too: they are on PATH where HOME is another
// one, and the shims themselves start nothing there.
func TestPyenvBesideItsShims(t *testing.T) {
	h := buildRoot(t, "testdata/roots/centos7.txtar").host()
	found := func() (out []string) {
		for _, p := range python.Find(h, python.Choice{}).Pythons {
			out = append(out, p.Path)
		}
		return out
	}
	want := found()
	h.Home = "/home/other"
	if diff := cmp.Diff(want, found()); diff != "" {
		t.Errorf("(-own home +another home):\n%s", diff)
	}
	if len(want) == 0 || slices.ContainsFunc(want, func(p string) bool { return strings.Contains(p, "/shims/") }) {
		t.Errorf("found %v", want)
	}
}

// A shim of pyenv answers only where the version chosen there has the program: the
// program itself is what a plan may name.
func TestToolsBehindShims(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{"shims/uv", "shims/pip", "shims/conda", "versions/3.11.7/bin/uv", "versions/3.11.7/bin/pip", "versions/3.12.1/bin/pip"} {
		path := filepath.Join(root, ".pyenv", file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("#!/bin/sh\nexit 127\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	write := os.WriteFile(filepath.Join(root, ".pyenv/version"), []byte("3.12.1\n"), 0o644)
	if write != nil {
		t.Fatal(write)
	}
	shims := filepath.Join(root, ".pyenv/shims")
	o := Options{Env: []string{"HOME=" + root, "PATH=" + shims, "PYENV_ROOT=" + root + "/.pyenv"}}
	o.NVML = "off"
	m := Gather(context.Background(), o)
	got := map[string]string{}
	for _, tool := range m.Tools {
		if strings.HasPrefix(tool.Path, root) {
			got[tool.Name] = strings.TrimPrefix(tool.Path, root)
		}
	}
	want := map[string]string{"uv": "/.pyenv/versions/3.11.7/bin/uv", "pip": "/.pyenv/versions/3.12.1/bin/pip"}
	if !maps.Equal(got, want) {
		t.Errorf("tools %v, want %v", got, want)
	}
}
