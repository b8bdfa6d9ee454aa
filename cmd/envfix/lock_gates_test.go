package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/testindex"
)

// What plan refuses, --check calls stale; what is only newer is a note.
func TestLockCheckSaysWhatPlanSays(t *testing.T) {
	torch := testindex.Torch("2.14.1+cu126", "12.6", "sm_70")
	torch.Tag = "cp312-cp312-manylinux_2_28_x86_64"
	x := testindex.Serve(t, torch)
	dir := t.TempDir()
	wantExit(t, lockIn(t, dir, "lock", "torch", "--mirror", "default="+x.URL, "--mirror", pytorchCU126+"="+x.URL,
		"--target", "v100=gpu=7.0 driver=580 python=3.12"), fail.OK)
	good, pylock := fileText(t, "envfix.lock"), fileText(t, "pylock.v100.toml")
	host := lock.Wheel{URL: x.URL}.Host()
	changed := func(change func(*lock.Lock)) {
		t.Helper()
		l, err := lock.Decode([]byte(good))
		if err != nil {
			t.Fatal(err)
		}
		change(l)
		b, err := l.Encode()
		if err != nil {
			t.Fatal(err)
		}
		writeText(t, "envfix.lock", string(b))
	}
	mirror := []string{"--mirror", pytorchCU126 + "=" + x.URL}
	tests := []struct {
		name        string
		change      func(*lock.Lock)
		pylock      string
		check, plan int
		says        string
	}{
		{"nothing", func(*lock.Lock) {}, pylock, fail.OK, fail.OK, "is current"},
		{"a newer envfix", func(l *lock.Lock) { l.RequiresEnvfix = ">=99.0" }, pylock, fail.Pending, fail.Usage, "needs envfix >=99.0"},
		{"older data", func(l *lock.Lock) { l.Matrix.Version, l.Matrix.SHA256 = "2020.1", strings.Repeat("0", 64) }, pylock, fail.OK, fail.OK, "made with matrix 2020.1"},
		{"a foreign host", func(l *lock.Lock) {
			l.Profiles[0].Hosts = []string{"evil.example"}
			l.Profiles[0].Pylock.SHA256 = lock.Sum([]byte(strings.ReplaceAll(pylock, "http://"+host, "https://evil.example")))
		}, strings.ReplaceAll(pylock, "http://"+host, "https://evil.example"), fail.Pending, fail.Integrity, "evil.example"},
	}
	for _, tt := range tests {
		changed(tt.change)
		writeText(t, "pylock.v100.toml", tt.pylock)
		code, said := lockSays(t, dir, append([]string{"lock", "--check", "--offline"}, mirror...)...)
		if code != tt.check || !strings.Contains(said, tt.says) {
			t.Errorf("%s: --check exits %d, want %d, and says, without %q:\n%s", tt.name, code, tt.check, tt.says, said)
		}
		code, said = lockSays(t, dir, append([]string{"plan", "--gpu", "7.0", "--driver", "580.95.05", "--arch", "x86_64", "--os", "linux"}, mirror...)...)
		if code != tt.plan || tt.plan != fail.OK && !strings.Contains(said, tt.says) {
			t.Errorf("%s: plan exits %d, want %d, and says, without %q:\n%s", tt.name, code, tt.plan, tt.says, said)
		}
	}
}

// --check, plan and why follow the lock of a directory above, as apply does.
func TestLockOfADirectoryAbove(t *testing.T) {
	x := teamIndex(t)
	dir := t.TempDir()
	wantExit(t, lockIn(t, dir, "lock", "torch", "--target", "rtx=gpu=12.0 driver=580 python=3.12", "--mirror", "default="+x.URL), fail.OK)
	writeText(t, dir+"/src/deep/main.py", "")
	machine := []string{"--gpu", "12.0", "--driver", "580.95.05", "--arch", "x86_64", "--os", "linux"}
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"lock", "--check", "--offline"}, "is current"},
		{[]string{"lock", "show"}, "rtx"},
		{append([]string{"plan"}, machine...), "profile rtx of envfix.lock"},
		{append([]string{"why"}, machine...), "profile rtx pins torch 2.15.0"},
		{append([]string{"why", "numpy<2"}, machine...), "numpy 2.3.0, not what was asked about"},
	} {
		if code, said := lockSays(t, dir+"/src/deep", tt.args...); code != fail.OK || !strings.Contains(said, tt.says) {
			t.Errorf("%q exits %d without %q:\n%s", tt.args, code, tt.says, said)
		}
	}
	if _, said := lockSays(t, dir, "doctor", "-v"); !strings.Contains(said, "matches no profile") || strings.Contains(said, "`envfix apply` installs") {
		t.Errorf("doctor names an apply that refuses:\n%s", said)
	}
	before := fileText(t, dir+"/envfix.lock") // what cannot be installed here is not begun
	if code, said := lockSays(t, dir, "add", "--yes", "rich"); code != fail.NoSolution || !strings.Contains(said, "`envfix lock add rich` changes the lock alone") || fileText(t, dir+"/envfix.lock") != before {
		t.Errorf("add exits %d:\n%s", code, said)
	}
	// Both refusals name a command that adds this very machine, as it can be pasted.
	adds := regexp.MustCompile("`envfix lock target add (here)=\"([^\"`]*)\"`")
	_, named := lockSays(t, dir, "plan", "--profile", "rtx")
	_, said := lockSays(t, dir, "plan")
	way := adds.FindStringSubmatch(strings.Join(strings.Fields(said), " "))
	if way == nil || !adds.MatchString(strings.Join(strings.Fields(named), " ")) {
		t.Fatalf("no way to add this machine:\n%s\n%s", said, named)
	}
	wantExit(t, lockIn(t, dir, "lock", "target", "add", "here="+way[2]+" python=3.12 index=default", "--mirror", "default="+x.URL), fail.OK)
	wantExit(t, lockIn(t, dir, "plan"), fail.OK)
}

// A driver below the floor is no dead end: the error names the flag, and the flag plans
// the driver before the locked packages.
func TestLockChangesTheDriver(t *testing.T) {
	x := teamIndex(t)
	dir := t.TempDir()
	wantExit(t, lockIn(t, dir, "lock", "torch", "--target", "rtx=gpu=12.0 driver=580 python=3.12", "--mirror", "default="+x.URL), fail.OK)
	old := []string{"plan", "--gpu", "12.0", "--driver", "570.86.16", "--arch", "x86_64", "--os", "linux"}
	for _, more := range [][]string{nil, {"--profile", "rtx"}} {
		code, said := lockSays(t, dir, append(old, more...)...)
		if code != fail.NoSolution || !strings.Contains(said, "--change-driver") {
			t.Errorf("%q exits %d:\n%s", more, code, said)
		}
		code, said = lockSays(t, dir, append(append(old, "--change-driver", "--json"), more...)...)
		driver, torch := strings.Index(said, `"id": "driver`), strings.Index(said, `"id": "torch"`)
		if code != fail.OK || driver < 0 || torch < driver || !strings.Contains(said, `"decision": "upgrade_driver"`) {
			t.Errorf("%q --change-driver exits %d; the driver's steps are at %d, the packages' at %d", more, code, driver, torch)
		}
	}
	code, said := lockSays(t, dir, "plan", "--gpu", "7.0", "--driver", "570.86.16", "--arch", "x86_64", "--os", "linux", "--change-driver")
	if code != fail.NoSolution || strings.Contains(said, "--change-driver") {
		t.Errorf("another GPU is no matter of the driver: exit %d\n%s", code, said)
	}
}

// Whoever asks is told package by package in what an environment differs from the lock.
func TestLockNamesDrift(t *testing.T) {
	minor := pythonMinor(t)
	tag := "cp" + strings.ReplaceAll(minor, ".", "")
	torch := testindex.Torch("2.10.0", "12.8", archFlags(t, "2.10.0", "cu128")...)
	torch.Tag, torch.Requires = tag+"-"+tag+"-manylinux_2_28_x86_64", []string{"six", "idna"}
	x := testindex.Serve(t, torch, testindex.Wheel{Name: "six", Version: "1.17.0"}, testindex.Wheel{Name: "six", Version: "1.16.0"},
		testindex.Wheel{Name: "idna", Version: "3.1"}, testindex.Wheel{Name: "rich", Version: "13.0"})
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	emptyCache(t)
	mirror := []string{"--mirror", "default=" + x.URL}
	machine := []string{"--gpu", "7.0", "--driver", "580.95.05", "--arch", "x86_64", "--os", "linux"}
	wantExit(t, lockIn(t, dir, append([]string{"lock", "torch", "--target", "v100=gpu=7.0 driver=580 index=default python=" + minor}, mirror...)...), fail.OK)
	wantExit(t, lockIn(t, dir, append(append([]string{"apply", "--yes"}, machine...), mirror...)...), fail.OK)
	uv := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(testindex.UV(t), append([]string{"pip"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	check := append([]string{"lock", "--check", "--installed", "--profile", "v100"}, mirror...)
	code, said := lockSays(t, dir, check...)
	if code != fail.OK {
		t.Fatalf("nothing differs, and it exits %d:\n%s", code, said)
	}
	uv("install", "--python", ".venv/bin/python", "--default-index", x.URL, "--no-deps", "rich", "six==1.16.0")
	uv("uninstall", "--python", ".venv/bin/python", "idna")
	want := []string{"idna 3.1 is missing", "six 1.16.0, the lock has 1.17.0", "rich 13.0 is installed, and the lock does not name it"}
	code, said = lockSays(t, dir, check...)
	wantExit(t, code, fail.Pending)
	for _, line := range want {
		if !strings.Contains(said, line) {
			t.Errorf("--check --installed does not say %q:\n%s", line, said)
		}
	}
	for _, args := range [][]string{append(append([]string{"plan"}, machine...), mirror...), append([]string{"doctor"}, machine[:4]...)} {
		_, said = lockSays(t, dir, args...)
		said = strings.Join(strings.Fields(said), " ")
		for _, line := range want {
			if !strings.Contains(said, line) {
				t.Errorf("%s does not say %q:\n%s", args[0], line, said)
			}
		}
	}
}
