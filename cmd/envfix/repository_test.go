package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/testindex"
)

// A repository is planned by its address: nothing is left here, and its environment will
// lie in the folder that apply makes.
func TestRepository(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	root, dir := t.TempDir(), t.TempDir()
	c := exec.Command("sh", "-ec", "git init -q work; cd work; echo 'torch==2.8.*' > requirements.txt; git add .; git -c user.name=x -c user.email=x@x commit -qm one; cd ..; git clone -q --bare work mine.git")
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := testindex.Git(t, root)
	args := []string{"plan", "--gpu", "V100", "--driver", "580.95.05", "--os", "linux", "--libc", "glibc-2.35", "--quick", server + "/mine.git"}
	code, said := lockSays(t, dir, args...)
	if code != fail.OK || !strings.Contains(said, "torch 2.8") || !strings.Contains(said, "mine/.venv") {
		t.Errorf("exit %d: %s", code, said)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left here: %v, %v", left, err)
	}
	if code, said = lockSays(t, dir, append(args[:len(args)-1], "http://git.example/mine.git")...); code != fail.Usage || !strings.Contains(said, "changed on its way") {
		t.Errorf("exit %d: %s", code, said)
	}
}
