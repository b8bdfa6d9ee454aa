package apply

import (
	"fmt"
	"testing"
)

// What was asked for when an environment was made outlasts any number of plans.
func TestWishesStay(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	wish := wishMark + "a-1:00"
	NoteMade(wish)
	for i := range mostMade + 20 {
		NoteMade(fmt.Sprintf("%032x", i))
	}
	if !MadeHere(wish) || MadeHere(fmt.Sprintf("%032x", 0)) || !MadeHere(fmt.Sprintf("%032x", mostMade+19)) {
		t.Errorf("the wish is known: %v; of %d lines", MadeHere(wish), len(madePlans()))
	}
}
