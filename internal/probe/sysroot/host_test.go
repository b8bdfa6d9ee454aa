package sysroot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFollowStaysBelowRoot: an absolute link leads to a place below the root, and no path
// leaves it.
func TestFollowStaysBelowRoot(t *testing.T) {
	root := t.TempDir()
	for name, to := range map[string]string{
		"srv/proj/.venv/bin/python3":              "/root/.pyenv/versions/3.10.4/bin/python3",
		"root/.pyenv/versions/3.10.4/bin/python3": "python3.10",
	} {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	h := New(Options{Root: root, OS: "linux"})
	if got := h.Resolved("/srv/proj/.venv/bin/python3"); got != "/root/.pyenv/versions/3.10.4/bin/python3.10" {
		t.Errorf("resolved = %q", got)
	}
	for _, p := range []string{"/../../../../../../etc/passwd", "/srv/../../../../etc/passwd"} {
		if got := h.Real(p); !strings.HasPrefix(got, root+"/") {
			t.Errorf("real(%q) = %q leaves the root", p, got)
		}
	}
}
