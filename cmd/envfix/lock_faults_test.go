//go:build failpoints && linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/testindex"
)

// TestFaultsLock fails and kills `envfix lock` wherever it replaces a file of a team
// that has a lock. Afterwards each file is whole, as it was or as it will be; what does
// not go together is refused; running it again gives the bytes of an undisturbed run,
// and nothing is left over.
func TestFaultsLock(t *testing.T) {
	x := teamIndex(t)
	before := t.TempDir()
	wantExit(t, lockIn(t, before, "lock", "torch", "--mirror", "default="+x.URL, "--target", "rtx=gpu=12.0 driver=580 os=linux python=3.12",
		"--target", "laptop=os=macos python=3.12"), fail.OK)
	self := filepath.Join(t.TempDir(), "envfix") // by this name the test binary is the program
	if err := os.Symlink(os.Args[0], self); err != nil {
		t.Fatal(err)
	}
	args := []string{"lock", "torch", "torchvision", "--mirror", "default=" + x.URL}
	change := func(dir string, env ...string) ([]byte, error) {
		c := exec.Command(self, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), append([]string{"PATH=" + filepath.Dir(testindex.UV(t)) + ":/usr/bin:/bin", "HOME=" + t.TempDir()}, env...)...)
		return c.CombinedOutput()
	}
	fresh := func() string {
		dir := filepath.Join(t.TempDir(), "team")
		if out, err := exec.Command("cp", "-a", before, dir).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return dir
	}
	after, list := fresh(), filepath.Join(t.TempDir(), "points")
	if out, err := change(after, "ENVFIX_FAILPOINT_LIST="+list); err != nil {
		t.Fatalf("without a fault: %v\n%s", err, out)
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	var points []string
	for p := range strings.FieldsSeq(string(text)) {
		if strings.HasSuffix(p, lock.File) || strings.Contains(p, "pylock.") || strings.HasSuffix(p, lock.TeamFile) {
			points = append(points, p)
		}
	}
	if len(points) < 4 {
		t.Errorf("points: %q", points)
	}
	n, torn, stuck := 0, 0, 0
	for _, point := range points {
		for _, kind := range []string{"kill", "enospc", "sigterm"} {
			n++
			dir := fresh()
			first, _ := change(dir, "ENVFIX_FAILPOINT="+point+"="+kind) // it is meant to fail
			if why := neither(dir, before, after); why != "" {
				torn++
				t.Errorf("%s at %s: %s\n%s", kind, point, why, first)
			}
			old := time.Now().Add(-time.Hour) // what is left over is a minute old
			for _, f := range filesIn(t, dir) {
				if err := os.Chtimes(filepath.Join(dir, f), old, old); err != nil {
					t.Fatal(err)
				}
			}
			again, err := change(dir)
			if !slices.Equal(filesIn(t, dir), filesIn(t, after)) || neither(dir, after, after) != "" || err != nil {
				stuck++
				t.Errorf("%s at %s: again: %v, %q, %s\n%s", kind, point, err, filesIn(t, dir), neither(dir, after, after), again)
			}
		}
	}
	fmt.Printf("envfix lock: %d points, %d faults, %d torn, %d not recovered\n", len(points), n, torn, stuck)
}

// neither names a file of a lock that is neither as it was nor as it will be.
func neither(dir, before, after string) string {
	files, err := filepath.Glob(filepath.Join(dir, "*lock*"))
	if err != nil || len(files) == 0 {
		return fmt.Sprint("no files: ", err)
	}
	for _, f := range files {
		if strings.HasPrefix(filepath.Base(f), ".") {
			continue // of a process that was killed; the next one removes it
		}
		got, err := os.ReadFile(f)
		a, errA := os.ReadFile(filepath.Join(before, filepath.Base(f)))
		b, errB := os.ReadFile(filepath.Join(after, filepath.Base(f)))
		if err != nil || (errA != nil || !bytes.Equal(got, a)) && (errB != nil || !bytes.Equal(got, b)) {
			return filepath.Base(f)
		}
	}
	return ""
}

func filesIn(t *testing.T, dir string) (out []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}
