package apply

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What uv writes to in place when it puts an environment's frame back lies beside the
// packages, not in them: it is a file of its own, or the generation before changes too.
func TestCloneOfAFrame(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for name, linked := range map[string]bool{"_virtualenv.py": false, "_virtualenv.pth": false, "torch/version.py": true} {
		old, made := filepath.Join(from, "lib/site-packages", name), filepath.Join(to, "lib/site-packages", name)
		for _, dir := range []string{filepath.Dir(old), filepath.Dir(made)} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(old, []byte("old\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := cloneFile(old, made, from, to, true); err != nil {
			t.Fatal(err)
		}
		one, err := os.Stat(old)
		if err != nil {
			t.Fatal(err)
		}
		if other, err := os.Stat(made); err != nil || os.SameFile(one, other) != linked {
			t.Errorf("%s: one file %v, error %v", name, !linked, err)
		}
	}
}

// Only a program of an environment starts the Python that is put back; one of the system's stays.
func TestCloneKeepsTheSystemsPython(t *testing.T) {
	dir := t.TempDir()
	from, to, other, system := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "env"), filepath.Join(dir, "usr")
	for _, d := range []string{from, to, other, system} {
		if err := os.MkdirAll(filepath.Join(d, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(other, "pyvenv.cfg"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]string{dir + "/moved": to, other: to, from: to, system: system} {
		old, made := filepath.Join(from, "bin", "pip"), filepath.Join(to, "bin", "pip")
		if err := os.WriteFile(old, []byte("#!"+place+"/bin/python3.12\nrest\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := cloneFile(old, made, from, to, true); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(made)
		if first, _, _ := strings.Cut(string(b), "\n"); err != nil || !strings.HasPrefix(first, "#!"+want+"/bin/python") {
			t.Errorf("%s: %q, error %v; wanted %s", place, first, err, want)
		}
	}
}
