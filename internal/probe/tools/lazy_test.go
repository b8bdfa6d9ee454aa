package tools

import (
	"regexp"
	"testing"
)

// TestPatterns compiles what else would only panic on the machine that needs it.
func TestPatterns(t *testing.T) {
	for _, p := range []func() *regexp.Regexp{
		versionTxt, cudaDir, cudaHeader,
	} {
		if p() == nil {
			t.Error("no pattern")
		}
	}
}
