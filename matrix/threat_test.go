package matrix

import "testing"

// Threat 16 of the threat model, under its own name.
func TestThreat16YAMLBombs(t *testing.T) {
	t.Run("Faults", TestFaults)
}
