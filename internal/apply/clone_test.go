package apply

import (
	"os"
	"path/filepath"
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
