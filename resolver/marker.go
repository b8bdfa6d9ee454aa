package resolver

import (
	"envfix/internal/machine"
	"envfix/internal/pep508"
)

// markersOf is what markers ask about on a machine, for the Python that is asked for
// or active.
func markersOf(h machine.Machine, r Request) pep508.Environment {
	python := r.Python
	for _, y := range h.Pythons {
		if python == "" && y.Active {
			python = y.Version
		}
	}
	return pep508.EnvironmentOf(h.Platform.OS, h.Platform.Arch, python)
}
