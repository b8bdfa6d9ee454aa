package main

import (
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/testindex"
)

// A default index behind an internal mirror is locked and applied. Packages of it are
// asked for by name, so that another mirror serves them as well. The URL that PEP 751
// wants of each file is the original's where a mirror of the files is named.
func TestLockBehindAMirror(t *testing.T) {
	minor := pythonMinor(t)
	tag := "cp" + strings.ReplaceAll(minor, ".", "")
	torch := testindex.Torch("2.10.0", "12.8", archFlags(t, "2.10.0", "cu128")...)
	torch.Tag, torch.Requires = tag+"-"+tag+"-manylinux_2_28_x86_64", []string{"six"}
	six := testindex.Wheel{Name: "six", Version: "1.17.0"}
	here, there := testindex.Serve(t, torch, six), testindex.Serve(t, torch, six)
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	emptyCache(t)
	mirrors := []string{"--mirror", "default=" + here.URL, "--mirror", "https://files.example/packages=" + here.Host + "/files"}
	wantExit(t, lockIn(t, dir, append([]string{"lock", "torch", "--target", "v100=gpu=7.0 driver=580 index=default python=" + minor}, mirrors...)...), fail.OK)
	for _, file := range []string{"envfix.lock", "envfix.toml", "pylock.v100.toml"} {
		if text := fileText(t, file); strings.Contains(text, strings.TrimPrefix(here.Host, "http://")) {
			t.Errorf("%s names the mirror:\n%s", file, text)
		}
	}
	if text := fileText(t, "pylock.v100.toml"); !strings.Contains(text, "'https://files.example/packages/six-1.17.0-") {
		t.Error(text)
	}
	before := len(here.Requests())
	wantExit(t, lockIn(t, dir, "apply", "--yes", "--gpu", "7.0", "--driver", "580.95.05", "--arch", "x86_64", "--os", "linux",
		"--mirror", "default="+there.URL), fail.OK)
	if asked := here.Requests()[before:]; len(asked) > 0 {
		t.Errorf("the mirror of the lock was asked: %q", asked)
	}
	if len(there.Requests()) == 0 {
		t.Error("the other mirror was not asked")
	}
	writeText(t, "nodes.csv", "host,gpu,driver,python\nv1,V100,580.95.05,"+minor+"\n") // a fleet keeps what it has
	if _, said := lockSays(t, dir, "fleet", "plan", "nodes.csv"); strings.Contains(said, "torch 2.10.0") {
		t.Error("without the lock it is 2.10.0 as well:\n" + said)
	}
	if code, said := lockSays(t, dir, "fleet", "plan", "nodes.csv", "--previous", "envfix.lock"); code != fail.OK || !strings.Contains(said, "torch 2.10.0") {
		t.Errorf("exit %d\n%s", code, said)
	}
}
