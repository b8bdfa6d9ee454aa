package apply

import (
	"os"
	"path/filepath"
	"testing"

	"envfix/internal/plan"
)

// A block in a directory of the environment that is not there yet, as conda's
// activate.d is not, makes it.
func TestBlockInNewDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "env")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r := &run{env: e, plan: &plan.Plan{}}
	if err := r.block(&plan.Block{Path: "{gen}/etc/conda/activate.d/envfix.sh", Name: "envfix", Lines: []string{"export PYTHONNOUSERSITE='1'"}}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "etc/conda/activate.d/envfix.sh"))
	want := "# >>> envfix envfix >>>\nexport PYTHONNOUSERSITE='1'\n# <<< envfix envfix <<<\n"
	if err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
}
