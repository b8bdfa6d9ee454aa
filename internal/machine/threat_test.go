package machine

import "testing"

// Threat 15 of the threat model, under its own name.
func TestThreat15UntrustedFacts(t *testing.T) {
	t.Run("DecodeRefuses", TestDecodeRefuses)
}
