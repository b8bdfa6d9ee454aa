//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/testindex"
)

// ansibleHere is ansibleBin, else an ansible-core that uv installs once into the user's
// cache. The test is skipped where none can be had.
func ansibleHere(t *testing.T) string {
	t.Helper()
	if dir := ansibleBin(); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "envfix-test-tools", "ansible")
	if _, err := os.Stat(dir + "/bin/ansible-playbook"); err == nil {
		return dir + "/bin"
	}
	python, err := testindex.FindPython()
	if err != nil {
		t.Fatal(err)
	}
	aside := dir + ".new"
	for _, argv := range [][]string{
		{"venv", "--quiet", "--clear", "--relocatable", "--python", python, aside},
		{"pip", "install", "--quiet", "--python", aside + "/bin/python", "ansible-core"},
	} {
		if out, err := exec.Command(testindex.UV(t), argv...).CombinedOutput(); err != nil {
			t.Skipf("ansible-core is not here and could not be installed: %v\n%s", err, out)
		}
	}
	if err := os.Rename(aside, dir); err != nil {
		t.Fatal(err)
	}
	return dir + "/bin"
}

// TestE2EAnsibleLocal plays the collection on this machine, without sshd and root: it is
// built, installed offline, checks, makes the environment of a lock, changes nothing the
// second time, and reports.
func TestE2EAnsibleLocal(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("needs ENVFIX_E2E=1")
	}
	t.Setenv("ENVFIX_ANSIBLE", ansibleHere(t))
	minor := pythonMinor(t)
	tag := "cp" + strings.ReplaceAll(minor, ".", "")
	torch := testindex.Torch("2.10.0", "12.8", archFlags(t, "2.10.0", "cu128")...)
	torch.Tag = tag + "-" + tag + "-manylinux_2_28_x86_64"
	dir, err := os.MkdirTemp("", "efl") // short: a socket's path has 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := newController(t, &lab{dir: dir, n: 1, x: testindex.Serve(t, torch)})
	c.env = append(c.env, "XDG_STATE_HOME="+dir+"/state", "PATH="+filepath.Dir(testindex.UV(t))+":"+c.ansible+":"+os.Getenv("PATH"))
	python, err := testindex.FindPython()
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, c.home+"/hosts", "here ansible_connection=local ansible_python_interpreter="+python+"\n")
	for _, sub := range []string{c.home + "/team", c.home + "/results", c.home + "/root"} {
		if err := os.MkdirAll(sub, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mirror := []string{"--mirror", "default=" + c.x.URL}
	at, err := os.Getwd() // the collection is found from here
	if err != nil {
		t.Fatal(err)
	}
	wantExit(t, lockIn(t, c.home+"/team", append([]string{"lock", "torch", "--target",
		"v100=gpu=7.0 driver=580 index=default python=" + minor}, mirror...)...), fail.OK)
	t.Chdir(at)
	machine := []string{"--gpu", "7.0", "--driver", "580.95.05", "--arch", "x86_64", "--os", "linux"}
	args := []string{"-e", "envfix_root=" + c.home + "/root", "-e", "envfix_env=" + c.home + "/env", "-e", "envfix_results=" + c.home + "/results",
		"-e", string(mustJSON(t, map[string]any{"envfix_args": append(machine, mirror...)}))}

	all, out, took := c.play(t, 0, "fleet", append(args, "--check")...)
	t.Logf("check: %s", took)
	if _, err := os.Lstat(c.home + "/env"); err == nil || all["here"].changed != 1 {
		t.Fatalf("a check: %+v, %v\n%s", all, err, out)
	}
	all, out, took = c.play(t, 0, "fleet", args...)
	t.Logf("first run: %s", took)
	if made, err := exec.Command(c.home+"/env/bin/python", "-I", "-c", "import torch; print(torch.__version__)").Output(); err != nil ||
		string(made) != "2.10.0\n" || all["here"].changed < 1 {
		t.Fatalf("the first run: %+v, %v %s\n%s", all, err, made, out)
	}
	all, out, took = c.play(t, 0, "fleet", args...)
	t.Logf("second run: %s", took)
	if r, ok := all["here"]; !ok || r.changed+r.failed != 0 {
		t.Fatalf("the second run: %+v\n%s", all, out)
	}
	report, err := exec.Command(c.envfix, "fleet", "report", c.home+"/results", "--lock", "none").CombinedOutput()
	if err != nil || !strings.Contains(string(report), "1 machine: 1 right") {
		t.Errorf("%v\n%s", err, report)
	}
}
