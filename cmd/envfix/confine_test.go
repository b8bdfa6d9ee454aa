//go:build linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever confines itself says so with --version -v, and cannot write in the directory that
// it was called in, which is what a fault in reading would have to do.
func TestThreat20Readers(t *testing.T) {
	const variable = "ENVFIX_TEST_CONFINED"
	if os.Getenv(variable) != "" {
		confinedReader(t)
		return
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "program"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	linked, bin := t.TempDir(), t.TempDir() // `ln -s ~/.local/bin/uv /usr/local/bin`: where it leads is not on PATH
	if err := errors.Join(os.WriteFile(filepath.Join(linked, "uv"), []byte("#!/bin/sh\n"), 0o755), os.Symlink(filepath.Join(linked, "uv"), filepath.Join(bin, "uv"))); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for _, path := range []string{os.Getenv("PATH"), dir + ":" + os.Getenv("PATH"), filepath.Dir(dir) + "/bin:" + os.Getenv("PATH")} {
		c := exec.Command(os.Args[0], "-test.run=^TestThreat20Readers$")
		c.Dir, c.Env = dir, append(os.Environ(), variable+"=1", "PATH="+path, "HOME="+t.TempDir(), "XDG_CACHE_HOME=", "TMPDIR="+t.TempDir())
		// Its exit status is not asked: testscript cannot clean up behind who gave up writing.
		if out, _ := c.CombinedOutput(); !strings.HasPrefix(string(out), "PASS\n") {
			t.Errorf("PATH=%s: %s", path, out)
		}
	}
}

func confinedReader(t *testing.T) {
	if err := confine(t.Context()); err != nil { // not alone: nothing is given up
		t.Fatal(err)
	}
	if err := os.WriteFile("before", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx := aloneIn(t.Context())
	if err := confine(ctx); err != nil {
		t.Skip(err)
	}
	var said strings.Builder
	if err := showVersion(ctx, &said, true); err != nil || !strings.Contains(said.String(), "Landlock") {
		t.Errorf("%v\n%s", err, said.String())
	}
	for what, err := range map[string]error{
		"a file": os.WriteFile("after", nil, 0o644), "the file before": os.Remove("before"), "a directory": os.Mkdir("dir", 0o755),
		"its program": exec.Command("./program").Run(), "a file at home": os.WriteFile(filepath.Join(os.Getenv("HOME"), ".bashrc"), nil, 0o644),
	} {
		if !os.IsPermission(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := exec.Command("uv").Run(); err != nil {
		t.Errorf("a program that PATH has by a link: %v", err)
	}
	if f, err := os.CreateTemp("", ""); err != nil {
		t.Errorf("a temporary file: %v", err)
	} else {
		f.Close()
		os.Remove(f.Name())
	}
	if err := exec.Command("sh", "-c", "exit 0").Run(); err != nil {
		t.Errorf("a program of the system: %v", err)
	}
}
