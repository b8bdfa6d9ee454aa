package main

import (
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/testindex"
)

// A policy is part of the lock: another one makes it stale, and what it never installs
// is refused whichever package brings it.
func TestLockPolicy(t *testing.T) {
	x := teamIndex(t)
	x.Add(testindex.Wheel{Name: "nice", Version: "1.0", Requires: []string{"evil"}})
	x.Add(testindex.Wheel{Name: "evil", Version: "1.0"})
	dir := t.TempDir()
	wish := "requirements = [\"torch\"]\n[targets]\nrtx = 'gpu=12.0 driver=580 python=3.12'\n"
	policy := "[policy]\nleast-driver = 575\nnever = [\"Evil\"]\nmirrors = [\"default=" + x.URL + "\"]\n"
	write := func(text string) { writeText(t, filepath.Join(dir, "envfix.toml"), text) }
	write(wish + policy)
	wantExit(t, lockIn(t, dir, "lock"), fail.OK)
	if l := fileText(t, "envfix.lock"); !strings.Contains(l, "least-driver = 575") || !strings.Contains(l, ">=580.65.06") {
		t.Errorf("the lock does not hold the policy:\n%s", l)
	}
	wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.OK)
	write(wish + strings.Replace(policy, "575", "590", 1))
	wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.Pending)
	wantExit(t, lockIn(t, dir, "lock"), fail.NoSolution) // driver 580 is older than 590
	write(wish + policy)
	wantExit(t, lockIn(t, dir, "lock", "nice"), fail.NoSolution)
	if l := fileText(t, "envfix.lock"); strings.Contains(l, "nice") {
		t.Errorf("a lock with what the policy never installs was written:\n%s", l)
	}
	write(wish + "[policy]\ncuda = [\"12.6\"]\n")
	wantExit(t, lockIn(t, dir, "lock"), fail.NoSolution)
}
