package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/team"
	"envfix/internal/testindex"
)

// pythonsIndex serves torch for many Pythons, and old-lib for 3.12 and older alone.
func pythonsIndex(t *testing.T) *testindex.Index {
	x := testindex.Serve(t, testindex.Wheel{Name: "idna", Version: "3.1"})
	for _, minor := range []string{"311", "312", "313", "314", "315"} {
		tag := "cp" + minor + "-cp" + minor
		for _, platform := range []string{"-manylinux_2_28_x86_64", "-macosx_14_0_arm64"} {
			torch := testindex.Torch("2.15.0", "13.2", "sm_120")
			torch.Tag = tag + platform
			x.Add(torch)
			if minor < "313" {
				x.Add(testindex.Wheel{Name: "old-lib", Version: "1.0", Tag: tag + platform})
			}
		}
	}
	return x
}

// lockedPythons are the Pythons of the lock here, by profile.
func lockedPythons(t *testing.T) string {
	t.Helper()
	l, err := (&team.Team{Dir: "."}).Read()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range l.Profiles {
		out = append(out, p.Name+" "+p.Python)
	}
	return strings.Join(out, ", ")
}

// Targets that name no Python get the newest of this machine, as what uv and plan do
// here; where a package has no file for it, another.
func TestLockPythonHere(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	t.Setenv("ENVFIX_ROOT", root) // a machine with two Pythons
	for _, name := range []string{"python3.9", "python3.13"} {
		file := filepath.Join(root, "usr/bin", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	x := pythonsIndex(t)
	args := []string{"--mirror", "default=" + x.URL, "--target", "rtx=gpu=12.0 driver=580 os=linux index=default"}
	code, said := lockSays(t, dir, append([]string{"lock", "torch"}, args...)...)
	if code != fail.OK || lockedPythons(t) != "rtx 3.13" || !strings.Contains(said, "Python 3.13, which is here, for rtx") || !strings.Contains(said, "--python 3.12") {
		t.Errorf("exit %d, %s:\n%s", code, lockedPythons(t), said)
	}
	t.Setenv("ENVFIX_ROOT", t.TempDir()) // another machine's check says the same
	wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.OK)
	t.Setenv("ENVFIX_ROOT", root)
	other := t.TempDir()
	x.Add(testindex.Wheel{Name: "new-lib", Version: "1.0", Tag: "cp315-cp315-manylinux_2_28_x86_64"})
	if code, said := lockSays(t, other, append([]string{"lock", "torch", "new-lib"}, args...)...); code != fail.OK || lockedPythons(t) != "rtx 3.15" || !strings.Contains(said, "another Python than is here") {
		t.Errorf("exit %d, %s:\n%s", code, lockedPythons(t), said)
	}
}

// A target that names no Python gets the project's, else on a machine without any the
// usual one, else the newest that all wishes have; it stays until somebody asks for newer versions.
func TestLockPythonOfAll(t *testing.T) {
	t.Setenv("ENVFIX_ROOT", t.TempDir())
	x := pythonsIndex(t)
	dir := t.TempDir()
	mirror := []string{"--mirror", "default=" + x.URL}
	lock := func(args ...string) string {
		t.Helper()
		code, said := lockSays(t, dir, append(append([]string{"lock"}, args...), mirror...)...)
		if code != fail.OK {
			t.Fatalf("%q exits %d:\n%s", args, code, said)
		}
		wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.OK)
		return said
	}
	want := func(what, pythons string) {
		t.Helper()
		if got := lockedPythons(t); got != pythons {
			t.Errorf("%s: %s, want %s", what, got, pythons)
		}
	}
	lock("torch", "--target", "rtx=gpu=12.0 driver=580 os=linux index=default", "--target", "mac=os=macos", "--target", "old=gpu=12.0 driver=580 os=linux index=default python=3.11")
	want("torch alone", "mac 3.13, old 3.11, rtx 3.13")
	said := lock("add", "old-lib")
	want("with old-lib, which has no files for newer ones", "mac 3.12, old 3.11, rtx 3.12")
	if !strings.Contains(said, "Python 3.12 for the targets that name none") || !strings.Contains(said, "old-lib") {
		t.Errorf("it is not said why:\n%s", said)
	}
	lock("remove", "old-lib")
	want("a Python stays", "mac 3.12, old 3.11, rtx 3.12")
	lock("--upgrade")
	want("--upgrade", "mac 3.13, old 3.11, rtx 3.13")
	writeText(t, filepath.Join(dir, ".python-version"), "3.13\n")
	wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.Pending)
	lock()
	want(".python-version", "mac 3.13, old 3.11, rtx 3.13")
	wantExit(t, lockIn(t, dir, append([]string{"lock", "add", "old-lib"}, mirror...)...), fail.Failed) // 3.13 is the project's word
	wantExit(t, lockIn(t, dir, append([]string{"lock", "add", "no-such-package"}, mirror...)...), fail.Failed)
}

// Hashes of a requirements file are of one Python's files: that one is taken.
func TestLockPythonOfTheHashes(t *testing.T) {
	x := pythonsIndex(t)
	dir := t.TempDir()
	numpy := func(minor string) testindex.Wheel {
		return testindex.Wheel{Name: "numpy", Version: "2.3.0", Tag: "cp" + minor + "-cp" + minor + "-manylinux_2_28_x86_64"}
	}
	x.Add(numpy("315"), numpy("314"), numpy("313"), numpy("312"))
	writeText(t, filepath.Join(dir, "requirements.txt"), "torch\nnumpy==2.3.0 --hash=sha256:"+numpy("312").SHA256()+"\n")
	args := []string{"lock", "-r", "requirements.txt", "--mirror", "default=" + x.URL, "--target", "rtx=gpu=12.0 driver=580 os=linux index=default"}
	wantExit(t, lockIn(t, dir, args...), fail.OK)
	if got := lockedPythons(t); got != "rtx 3.12" {
		t.Errorf("%s, and the hash is of a file for 3.12", got)
	}
	writeText(t, filepath.Join(dir, "requirements.txt"), "torch\nnumpy==2.3.0 --hash=sha256:"+strings.Repeat("0", 64)+"\n")
	wantExit(t, lockIn(t, dir, args...), fail.Integrity)
}
