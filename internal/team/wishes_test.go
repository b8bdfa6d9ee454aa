package team

import (
	"strings"
	"testing"

	"envfix/internal/lock"
	"envfix/internal/pyproject"
)

// What a lock alone says is written into a new file in one order; a policy that no command writes
// is not lost.
func TestWishesOfALock(t *testing.T) {
	t.Parallel()
	w := &wishes{file: lock.TeamFile, Team: lock.Team{Requirements: []string{"torch"}, Files: []string{"a.txt"}, Groups: []string{"dev"}, Build: []string{"x"}}}
	var first string
	for range 20 {
		e := &pyproject.Edit{Name: w.file}
		if err := w.write(e); err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(e.Text)
		}
		if string(e.Text) != first || !strings.Contains(first, "torch") {
			t.Fatalf("%s\nand\n%s", first, e.Text)
		}
	}
	w.Policy = &lock.Policy{}
	if err := w.write(&pyproject.Edit{Name: w.file}); err == nil || !strings.Contains(err.Error(), "its policy") {
		t.Errorf("got %v", err)
	}
}
