package main

import (
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/fail"
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
	git, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(&cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(git)), "git-http-backend"), Root: "/",
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}})
	t.Cleanup(s.Close)
	args := []string{"plan", "--gpu", "V100", "--driver", "580.95.05", "--os", "linux", "--libc", "glibc-2.35", "--quick", s.URL + "/mine.git"}
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
