package maintain

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/testindex"
	"envfix/matrix"
)

// A package that is named gets its releases; what was read of others stays, and of what it
// requires only what decides is kept.
func TestHarvestDists(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS("../../data")); err != nil {
		t.Fatal(err)
	}
	before, err := matrix.Load(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	x := testindex.Serve(t, testindex.Wheel{Name: "My.Trainer", Version: "1.0", Tag: "py3-none-any",
		Requires: []string{"torch>=2.4,<2.9", "tqdm", "peft>=0.1", "numpy>=1.2", "transformers>=4.50"}})
	for _, names := range [][]string{{"my_trainer"}, nil} { // then there is nothing to read
		index, err := Open(t.Context(), x.URL)
		if err != nil {
			t.Fatal(err)
		}
		_, missing, err := HarvestDists(names)(t.Context(), index, dir, "2026-11-23", func(int, int, string) {})
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(missing, "my-trainer") || !slices.Contains(missing, "peft") {
			t.Errorf("missing: %q", missing)
		}
		m, err := matrix.Load(os.DirFS(dir))
		if err != nil {
			t.Fatal(err)
		}
		d := m.DistsOf("my-trainer")
		if len(d) != 1 || strings.Join(d[0].Requires, " | ") != "peft | torch>=2.4,<2.9 | transformers>=4.50" {
			t.Errorf("%+v", d)
		}
		if len(m.Dists) != len(before.Dists)+1 || len(m.DistsOf("unsloth")) != len(slices.DeleteFunc(before.DistsOf("unsloth"), func(d matrix.Dist) bool { return d.Unread })) {
			t.Errorf("%d packages, before %d; unsloth has %d groups", len(m.Dists), len(before.Dists), len(m.DistsOf("unsloth")))
		}
	}
}
