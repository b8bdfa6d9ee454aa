package update

import "testing"

// Threat 9 of the threat model, under its own name.
func TestThreat09MatrixUpdates(t *testing.T) {
	t.Run("Attacks", TestAttacks)
}
