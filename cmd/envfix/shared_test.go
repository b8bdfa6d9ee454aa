package main

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

// shared is a directory for what one test makes and others use too; TestMain
// removes it.
var shared = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "envfix-tests-") })

// tests run without what the caller's shell exports, and remove what they shared.
type tests struct{ *testing.M }

func (m tests) Run() int {
	testenv.Clean()
	code := m.M.Run()
	if dir, err := shared(); err == nil {
		os.RemoveAll(dir)
	}
	return code
}

// made returns what f makes in a directory below shared; f is called once.
func made(name string, f func(dir string) error) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		dir, err := shared()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(dir, name)
		return dir, errors.Join(os.Mkdir(dir, 0o755), f(dir))
	})
}

// execute runs a program with variables beside ours; its error holds what it said.
func execute(env []string, name string, args ...string) error {
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), env...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %q: %w\n%s", name, args, err, out)
	}
	return nil
}

// file is a file of a directory that was made.
func file(t *testing.T, dir func() (string, error), name string) string {
	t.Helper()
	d, err := dir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(d, name)
}

var (
	program = made("program", func(dir string) error { return execute(nil, "go", "build", "-o", dir+"/envfix", ".") })
	static  = made("static", func(dir string) error { return buildStatic(dir + "/envfix") })
	state   = made("state", func(string) error { return nil })
)

// build returns the program as people build it.
func build(t *testing.T) string {
	t.Helper()
	return file(t, program, "envfix")
}

// buildStatic builds what `make dist` gives everybody, with more variables.
func buildStatic(path string, env ...string) error {
	return execute(append(env, "CGO_ENABLED=0", "GOFLAGS="), "go", "build", "-trimpath", "-buildvcs=false", "-o", path, ".")
}

// realProject is a project with real torch from the default index; did.json in it is
// what apply said.
var realProject = made("project", func(dir string) error {
	envfix, err := program()
	tools, err2 := state()
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	c := exec.Command(envfix+"/envfix", append([]string{"apply", "--json", "--yes", "--env", dir + "/.venv"}, onH100...)...)
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+tools)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("%q: %w\n%s", c.Args, err, stderr.String())
	}
	return os.WriteFile(dir+"/did.json", out, 0o600)
})

// onH100 describes the machine of the tests that install real torch.
var onH100 = []string{"--gpu", "H100 80GB HBM3", "--driver", "590.48.01", "--only-index", "default"}

// realEnv is an environment with real torch: that of the interpreter in
// ENVFIX_E2E_PYTHON, else one that envfix installs from the default index.
func realEnv(t *testing.T) string {
	t.Helper()
	if python := os.Getenv("ENVFIX_E2E_PYTHON"); python != "" {
		return filepath.Dir(filepath.Dir(python))
	}
	env, err := filepath.EvalSymlinks(file(t, realProject, ".venv")) // copies are of the tree, not of the link
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// sample tells whether a case of a long end-to-end test is left out: `make e2e` runs
// a small case of each kind, `make e2e-all` all of them.
func sample(t *testing.T, small bool) {
	t.Helper()
	if !small && os.Getenv("ENVFIX_E2E") != "all" {
		t.Skip("one of its kind runs already; `make e2e-all` runs this one too")
	}
}

// debootstrap makes sure of the program of that name, which two tests need.
var debootstrap = sync.OnceValue(func() error {
	if _, err := exec.LookPath("debootstrap"); err == nil {
		return nil
	}
	return execute(nil, "sh", "-c", "apt-get update -q && apt-get install -qy debootstrap")
})
