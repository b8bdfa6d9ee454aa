//go:build linux

package system

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
)

// A confined process writes where it may and nowhere else, and starts what lies where it
// may, from each of its threads, and so does what it starts.
func TestThreat20Confined(t *testing.T) {
	const variable = "ENVFIX_TEST_CONFINED"
	if dir := os.Getenv(variable); dir != "" {
		confined(t, dir)
		return
	}
	dir := t.TempDir()
	for _, sub := range []string{"may", "may/deep", "not"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, script := range []string{"may/script", "not/script"} {
		if err := os.WriteFile(filepath.Join(dir, script), []byte("#!/bin/sh\ntouch "+dir+"/not/by-a-child\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(os.Args[0], "-test.run=^TestThreat20Confined$", "-test.v")
	c.Env = append(os.Environ(), variable+"="+dir)
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	for _, file := range []string{"not/file", "not/by-a-child", "not/moved"} {
		if _, err := os.Lstat(filepath.Join(dir, file)); err == nil {
			t.Errorf("%s was made", file)
		}
	}
}

func confined(t *testing.T, dir string) {
	var threads sync.WaitGroup
	ready, begin := make(chan bool, 20), make(chan bool)
	for range cap(ready) { // threads that are there before
		threads.Go(func() {
			runtime.LockOSThread()
			ready <- true
			<-begin
			denied(t, os.WriteFile(dir+"/not/file", nil, 0o644))
		})
	}
	for range cap(ready) {
		<-ready
	}
	if err := Confine([]string{dir + "/may", dir + "/is/not/there"}, []string{"/usr", "/bin", "/lib", "/lib64", dir + "/may"}); err != nil {
		close(begin)
		t.Skip(err)
	}
	close(begin)
	threads.Wait()
	denied(t, os.Remove(dir+"/not/script"))
	denied(t, os.Truncate(dir+"/not/script", 0))
	denied(t, os.Symlink("x", dir+"/not/file"))
	denied(t, exec.Command(dir+"/not/script").Run())
	if err := os.Rename(dir+"/may/script", dir+"/not/moved"); err == nil {
		t.Error("a file was moved out")
	}
	if err := errors.Join(os.WriteFile(dir+"/may/file", nil, 0o644), os.Rename(dir+"/may/file", dir+"/may/deep/file")); err != nil {
		t.Errorf("where it may: %v", err)
	}
	if _, err := os.ReadFile(dir + "/not/script"); err != nil {
		t.Errorf("reading is free: %v", err)
	}
	if err := exec.Command(dir + "/may/script").Run(); err == nil { // touch is refused
		t.Error("a child may what its parent may not")
	}
}

func denied(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, syscall.EACCES) {
		t.Errorf("not denied: %v", err)
	}
}
