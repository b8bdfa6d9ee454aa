package resolver

import (
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/matrix"
)

// Of several GPUs only those are named for which a package has no code.
func TestUnbuildable(t *testing.T) {
	rows := []matrix.Elsewhere{{Package: "flash-attn", Archs: []string{"8.0", "9.0"}}}
	gpu := func(name, sm string) machine.GPU {
		return machine.GPU{Vendor: machine.NVIDIA, Name: name, SM: machine.MustSM(sm)}
	}
	if got := Unbuildable(rows, []machine.GPU{gpu("V100", "7.0"), gpu("A100", "8.0")}); !strings.HasPrefix(got, "flash-attn has no code for V100 (7.0), and") {
		t.Error(got)
	}
	if got := Unbuildable(rows, []machine.GPU{gpu("A100", "8.0"), gpu("RTX 4090", "8.9")}); got != "" {
		t.Error(got)
	}
}
