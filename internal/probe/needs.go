package probe

import (
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
)

// needs are the distributions that one needs to be imported, itself among them.
func needs(dists []Dist, name string) map[string]bool {
	out := map[string]bool{name: true}
	for grown := true; grown; {
		grown = false
		for _, d := range dists {
			if !out[d.Name] {
				continue
			}
			for _, line := range d.Needs {
				if n := requiredName(line); n != "" && !out[n] {
					out[n], grown = true, true
				}
			}
		}
	}
	return out
}

// requiredName is the package that a line of Requires-Dist names; "" where an extra asks.
func requiredName(line string) string {
	spec, marker, _ := strings.Cut(line, ";")
	if strings.Contains(marker, "extra") {
		return ""
	}
	end := strings.IndexAny(spec, " ([<>=!~@")
	if end < 0 {
		end = len(spec)
	}
	return machine.NormalName(strings.TrimSpace(spec[:end]))
}

// torchSet are the distributions that torch and its companions consist of.
var torchSet = lazy.Regexp(`^(torch|torchvision|torchaudio|triton|pytorch-triton|nvidia-.*|cuda-toolkit)$`)
