package maintain

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"envfix/internal/testindex"
	"envfix/matrix"
)

// A release that the data has no row for gets one from its wheel; what was read before
// stays, and the data stays in order.
func TestHarvestPins(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS("../../data")); err != nil {
		t.Fatal(err)
	}
	before, err := matrix.Load(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	wheel := testindex.Wheel{Name: "vllm", Version: "0.99.0", Tag: "cp38-abi3-manylinux_2_28_x86_64",
		Requires: []string{"torch==2.14.1", "nvidia-nccl-cu13"}}
	x := testindex.Serve(t, wheel)
	for range 2 { // the second time there is nothing to read
		index, err := Open(t.Context(), x.URL)
		if err != nil {
			t.Fatal(err)
		}
		rows, missing, err := HarvestPins(t.Context(), index, dir, "2026-11-23", func(int, int, string) {})
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(missing, "vllm") || !slices.Contains(missing, "xformers") {
			t.Errorf("missing: %q", missing)
		}
		m, err := matrix.Load(os.DirFS(dir))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(m.Extensions) - len(before.Extensions); got != 1 || rows < 2 {
			t.Errorf("%d rows more, of %d, want 1", got, rows)
		}
		i := slices.IndexFunc(m.Extensions, func(e matrix.Extension) bool { return e.Package == "vllm" && e.Version.String() == "0.99.0" })
		if i < 0 {
			t.Fatal("no row for the release")
		}
		e := m.Extensions[i]
		if e.Torch.String() != "==2.14.1" || e.CUDA != "13" || e.OS != "linux" || e.Fails != "import" || e.Proof != matrix.ByMetadata {
			t.Errorf("%+v", e)
		}
	}
}
