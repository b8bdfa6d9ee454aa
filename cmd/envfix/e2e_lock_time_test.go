package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"envfix/internal/fail"
)

// TestE2ELockTime times a lock of six kinds of machine beside six `uv pip compile` of the
// same sets and beside `uv lock` of the same wish, in turns, each with uv's cache filled.
// It states the medians and asserts none: a busy machine has others.
func TestE2ELockTime(t *testing.T) {
	if os.Getenv("ENVFIX_E2E_LOCK") == "" {
		t.Skip("needs ENVFIX_E2E_LOCK=1 (make e2e-lock): it asks the installer's default index")
	}
	envfix, minor := build(t), pythonMinor(t)
	ours, theirs := t.TempDir(), t.TempDir()
	args := []string{envfix, "lock", "torch", "torchvision", "numpy", "transformers"}
	for _, target := range []string{"v100=gpu=7.0 driver=580 os=linux index=default", "rtx=gpu=12.0 driver=580 os=linux index=default",
		"gb10=gpu=12.1 driver=580 arch=aarch64", "l4=gpu=8.9 driver=580 os=linux index=default", "laptop=os=macos", "win=os=windows gpu=none index=default"} {
		args = append(args, "--target", target+" python="+minor)
	}
	writeText(t, filepath.Join(theirs, "pyproject.toml"), "[project]\nname = 'team'\nversion = '0'\nrequires-python = '=="+minor+
		".*'\ndependencies = ['torch', 'torchvision', 'numpy', 'transformers']\n")
	bare := append(bareCompiles(t, "uv", minor), bareCompiles(t, "uv", minor)[1]) // l4 gets what rtx gets
	wantExit(t, lockIn(t, t.TempDir(), args[1:]...), fail.OK)                     // fills the cache
	timed(t, theirs, append(bare, []string{"uv", "lock"})...)
	took := map[string][]time.Duration{}
	for range 5 {
		for name, run := range map[string]func() time.Duration{
			"envfix lock":      func() time.Duration { return anew(t, ours, "*", args) },
			"6 uv pip compile": func() time.Duration { return timed(t, "", without(bare)...) },
			"uv lock":          func() time.Duration { return anew(t, theirs, "uv.lock", []string{"uv", "lock"}) },
		} {
			took[name] = append(took[name], run())
		}
	}
	median := map[string]float64{}
	for name, all := range took {
		slices.Sort(all)
		median[name] = all[len(all)/2].Seconds()
		t.Logf("%-17s median %.2f s of %v", name, median[name], all)
	}
	t.Logf("envfix lock / 6 uv pip compile: %.2f; envfix lock / uv lock: %.2f",
		median["envfix lock"]/median["6 uv pip compile"], median["envfix lock"]/median["uv lock"])
}

// anew times a command in dir after what it made before is gone.
func anew(t *testing.T, dir, made string, command []string) time.Duration {
	t.Helper()
	old, err := filepath.Glob(filepath.Join(dir, made))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range old {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	return timed(t, dir, command)
}

// without takes away what the commands wrote before, which they would start from.
func without(commands [][]string) [][]string {
	for _, c := range commands {
		i := slices.Index(c, "--output-file")
		if name := c[i+1]; strings.HasSuffix(name, ".out") {
			_ = os.Remove(name) // it may not be there yet
		}
	}
	return commands
}
