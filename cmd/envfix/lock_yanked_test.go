package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/testindex"
)

// A release that was withdrawn from its index is said when it is locked, when it stays
// locked, and by --check where the index can be asked; it makes no lock stale.
func TestLockSaysWhatWasYanked(t *testing.T) {
	x := teamIndex(t)
	x.Add(testindex.Wheel{Name: "idna", Version: "3.1"})
	dir := t.TempDir()
	t.Setenv("UV_CACHE_DIR", t.TempDir())
	mirror := []string{"--mirror", "default=" + x.URL}
	target := []string{"--target", "rtx=gpu=12.0 driver=580 python=3.12"}
	code, out := lockSays(t, dir, append(append([]string{"lock", "torch", "idna"}, target...), mirror...)...)
	if wantExit(t, code, fail.OK); strings.Contains(out, "yanked") {
		t.Fatalf("nothing was yanked yet:\n%s", out)
	}
	x.Break("/simple/idna/", testindex.Yanked)
	for _, args := range [][]string{{"lock"}, {"lock", "--check"}, {"lock", "--check", "--json"}} {
		t.Setenv("UV_CACHE_DIR", t.TempDir())
		code, out := lockSays(t, dir, append(args, mirror...)...)
		if wantExit(t, code, fail.OK); !strings.Contains(out, "idna==3.1") || !strings.Contains(out, "is yanked") || !strings.Contains(out, "broken") {
			t.Errorf("%q does not say what was yanked, and why:\n%s", args, out)
		}
	}
	if got := lockedPackages(t, "rtx")["idna"]; got != "3.1" {
		t.Errorf("idna %s is locked", got)
	}
	code, out = lockSays(t, dir, "lock", "--check", "--offline")
	if wantExit(t, code, fail.OK); strings.Contains(out, "yanked") {
		t.Errorf("--offline asks nobody:\n%s", out)
	}
	x.Break("/simple/idna/", testindex.Unavailable)
	t.Setenv("UV_CACHE_DIR", t.TempDir())
	code, out = lockSays(t, dir, append([]string{"lock", "--check"}, mirror...)...)
	if wantExit(t, code, fail.OK); !strings.Contains(out, "could not be asked") {
		t.Errorf("an index that is away is named, and is no fault of the lock:\n%s", out)
	}
}

// lockSays is lockIn with what is printed to the output and the errors.
func lockSays(t *testing.T, dir string, args ...string) (code int, said string) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out, errs := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = f, f
	defer func() { os.Stdout, os.Stderr = out, errs }()
	code = lockIn(t, dir, args...)
	return code, fileText(t, f.Name())
}
