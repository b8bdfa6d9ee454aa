package testindex

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"envfix/internal/testenv"
)

// Python returns a Python 3 that has venv and pip, as an absolute path that does
// not go through a version manager's shim.
func Python(t testing.TB) string {
	t.Helper()
	python, err := FindPython()
	if err != nil {
		t.Fatal(err)
	}
	return python
}

// FindPython is Python without a test. It asks once, and looks where the caller of the tests
// has his programs: a test may change PATH, and a version manager's shims take half a second.
var FindPython = sync.OnceValues(func() (string, error) {
	for _, name := range []string{"python3.13", "python3.12", "python3.11", "python3"} {
		if out, err := asCaller(name, "-I", "-c", "import sys, venv, ensurepip; print(sys.executable)"); err == nil {
			return out, nil
		}
	}
	return "", errors.New("no python3 with venv and ensurepip was found: install python3 and python3-venv")
})

// asCaller is what a program prints in the environment of who started the tests.
func asCaller(argv ...string) (string, error) {
	c := exec.Command("/usr/bin/env", argv...)
	c.Env = testenv.Callers
	out, err := c.Output()
	return strings.TrimSpace(string(out)), err
}

// UV returns a real uv: the one on PATH, else one that pip fetched once from the
// installer's default index into the user's cache.
func UV(t testing.TB) string {
	t.Helper()
	uv, err := FindUV()
	if err != nil {
		t.Fatal(err)
	}
	return uv
}

// cache is the caller's: a test that has another keeps uv in this one all the same.
var cache, noCache = os.UserCacheDir()

// FindUV is UV without a test.
var FindUV = sync.OnceValues(func() (string, error) {
	if p, err := asCaller("sh", "-c", "command -v uv"); err == nil {
		// A shim of pyenv takes longer to start than some tests have patience.
		if real, err := asCaller("pyenv", "which", "uv"); err == nil {
			p = real
		}
		return p, nil
	}
	if noCache != nil {
		return "", noCache
	}
	dir := filepath.Join(cache, "envfix-test-tools", "uv")
	uv := filepath.Join(dir, "bin", "uv")
	if _, err := os.Stat(uv); err == nil {
		return uv, nil
	}
	python, err := FindPython()
	if err != nil {
		return "", err
	}
	if err := install(python, dir); err != nil {
		return "", fmt.Errorf("uv could not be installed from the default index: %w", err)
	}
	return uv, nil
})

// install makes a venv with uv aside and renames it, so that packages tested at
// the same time do not see half of one.
func install(python, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	aside, err := os.MkdirTemp(filepath.Dir(dir), "uv-")
	if err != nil {
		return err
	}
	for _, argv := range [][]string{
		{python, "-I", "-m", "venv", aside},
		{filepath.Join(aside, "bin", "python"), "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "uv"},
	} {
		c := exec.Command(argv[0], argv[1:]...)
		c.Env = testenv.Callers
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
		}
	}
	if err := os.Rename(aside, dir); err != nil {
		if _, other := os.Stat(filepath.Join(dir, "bin", "uv")); other == nil {
			return os.RemoveAll(aside) // another test was first
		}
		return err
	}
	return nil
}
