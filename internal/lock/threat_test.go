package lock

import "testing"

// Threat 8 of the threat model, under its own name.
func TestThreat08LockTampering(t *testing.T) {
	t.Run("EveryChangeIsRefused", TestEveryChangeIsRefused)
	t.Run("ForgedDigests", TestForgedDigests)
}
