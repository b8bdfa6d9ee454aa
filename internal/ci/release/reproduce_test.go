package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReproduce makes a release of the commit in two folders, the second with a
// build cache of its own: both have the same files with the same bytes. It takes
// minutes: `make e2e-reproduce`.
func TestReproduce(t *testing.T) {
	systems := os.Getenv("ENVFIX_REPRODUCE")
	if systems == "" {
		t.Skip("needs ENVFIX_REPRODUCE, the systems to build for: make e2e-reproduce")
	}
	top := output("git", "rev-parse", "--show-toplevel")
	var lists [2]string
	for i := range lists {
		dir := filepath.Join(t.TempDir(), "clone", string(rune('a'+i)))
		ran(t, nil, "git", "clone", "--quiet", top, dir)
		c := command{argv: []string{"go", "run", "./internal/ci/release", "-targets", systems}, dir: dir, env: []string{"GOFLAGS="}}
		if i == 1 {
			c.env = append(c.env, "GOCACHE="+t.TempDir())
		}
		if _, err := c.output(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "dist", "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		lists[i] = string(b)
	}
	if d := cmp.Diff(lists[0], lists[1]); d != "" {
		t.Errorf("two folders, two releases:\n%s", d)
	}
	t.Logf("the same in both:\n%s", lists[0])
}
