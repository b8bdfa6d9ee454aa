//go:build unix

package system

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Root's steps go to a program that only root can change, where there is one, and
// never to one that a third could.
func TestThreat11RootsHelper(t *testing.T) {
	yes, no := func(string) bool { return true }, func(string) bool { return false }
	dir := t.TempDir()
	self := filepath.Join(dir, "envfix")
	set := func(mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(self, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(self, mode); err != nil {
			t.Fatal(err)
		}
	}
	set(0o755)
	root, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	if path, own, err := Helper("/bin/sh", nil, no); path != root || own || err != nil {
		t.Errorf("root's own: %q, %v, %v", path, own, err)
	}
	if path, own, err := Helper(self, []string{"/no/such", self, "/bin/sh"}, yes); path != root || own || err != nil {
		t.Errorf("beside root's own: %q, %v, %v", path, own, err)
	}
	if path, own, err := Helper(self, []string{"/bin/sh"}, no); filepath.Base(path) != "envfix" || !own || err != nil {
		t.Errorf("another program: %q, %v, %v", path, own, err)
	}
	set(0o757)
	if _, _, err := Helper(self, nil, no); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("everybody may write it: %v", err)
	}
	set(0o755)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Helper(self, nil, no); err == nil || !strings.Contains(err.Error(), "root's rights") {
		t.Errorf("everybody may exchange it: %v", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		return // only root can give a file away
	}
	if err := os.Chown(self, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Helper(self, nil, no); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("another user's: %v", err)
	}
	if err := os.Chown(self, 0, 65534); err != nil {
		t.Fatal(err)
	}
	if set(0o775); os.Chown(self, 0, 65534) != nil {
		t.Fatal("not given away")
	}
	if _, _, err := Helper(self, nil, no); err == nil || !strings.Contains(err.Error(), "others can write it") {
		t.Errorf("another group's: %v", err)
	}
}
