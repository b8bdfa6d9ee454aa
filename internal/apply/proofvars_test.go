//go:build unix

package apply

import (
	"context"
	"testing"

	"envfix/internal/system"
)

// The proof is given the variables of Python's own as they are: one that is isolated reads none of them.
func TestProveKeepsVariables(t *testing.T) {
	t.Setenv("PYTHONPATH", "/mine")
	t.Setenv("PIP_TARGET", "/other")
	const says = `echo "envfix:{\"path\": \"$PYTHONPATH$PYTHONNOUSERSITE$PIP_TARGET\"}"`
	proof, err := Prove(context.Background(), system.Command{Argv: []string{"/bin/sh", "-c", says}})
	if err != nil || proof.Path != "/mine" {
		t.Errorf("%q, %v", proof.Path, err)
	}
}
