package installers

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"envfix/internal/managers"
	"envfix/internal/plan"
	"envfix/matrix"
	"envfix/resolver"
)

func TestEveryManagerInstalls(t *testing.T) {
	if want, got := slices.Sorted(slices.Values(managers.Names())), slices.Sorted(maps.Keys(byManager)); !slices.Equal(want, got) {
		t.Errorf("the table names %v, and %v install", want, got)
	}
	for name, by := range byManager {
		_, wheels := by.(wheelTool)
		if _, leaves := by.(leaver); leaves == wheels {
			t.Errorf("%s says neither how it carries packages over nor why it does not", name)
		}
	}
}

func TestUnknownManager(t *testing.T) {
	_, err := Plan(&matrix.Matrix{}, v100(), resolver.Request{}, install(choice()), plan.Target{Manager: "hatch"})
	if err == nil || !strings.Contains(err.Error(), "hatch") || !strings.Contains(err.Error(), strings.Join(managers.Names(), ", ")) {
		t.Errorf("a manager that is none: %v", err)
	}
}
