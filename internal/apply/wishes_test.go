package apply

import (
	"path/filepath"
	"testing"

	"envfix/internal/describe"
	"envfix/internal/plan"
)

// A description that is given again on other hardware stands for that from then on, though
// nothing is to be done.
func TestWishOfOtherHardware(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	b := newBench(t)
	said := func(here ...string) *plan.Wish {
		return &plan.Wish{Machine: &describe.Machine{GPUs: []string{"H100"}, Here: here}}
	}
	p := b.plan("2.12.0+cu126", func(p *plan.Plan) { p.Wish = said() })
	b.mustApply(p)
	e := b.open()
	if err := e.wishes(said("NVIDIA L4")); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(b.dir, ".venv"))
	if err != nil {
		t.Fatal(err)
	}
	if w := WishOf(dir); w == nil || StrangeWish(dir) || w.Machine == nil || len(w.Machine.Here) != 1 {
		t.Errorf("remembered: %+v", w)
	}
	// The same record in a clone, where another user, or this one, never wrote it.
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if w := WishOf(dir); w != nil || !StrangeWish(dir) {
		t.Errorf("a record that was not written here decides: %+v", w)
	}
}
