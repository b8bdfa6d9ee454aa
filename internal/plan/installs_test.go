package plan

import (
	"testing"

	"envfix/resolver"
)

// What a plan installs is the choice of its proof: behind a change of the driver what
// fits then, without one what fits now.
func TestInstalls(t *testing.T) {
	then := &resolver.Choice{Torch: "2.15.0", Build: "cu132", Packages: map[string]string{"torch": "2.15.0+cu132"}}
	now := &resolver.Choice{Torch: "2.7.1", Build: "cu118", Packages: map[string]string{"torch": "2.7.1+cu118"}}
	proof := func(torch string) []Step { return []Step{{Verify: &Verify{Torch: torch}}} }
	for want, p := range map[string]*Plan{
		"cu132": {Told: resolver.Told{Then: then, Fallback: now}, Steps: proof("2.15.0+cu132")},
		"cu118": {Told: resolver.Told{Then: then, Fallback: now}, Steps: proof("2.7.1")},
		"":      {Told: resolver.Told{Then: then, Fallback: now}},
		"cu126": {Choice: resolver.Choice{Torch: "2.14.1", Build: "cu126"}, Told: resolver.Told{Then: then}, Steps: proof("2.14.1")},
	} {
		if got := p.Installs(); got.Build != want {
			t.Errorf("got %q, want %q", got.Build, want)
		}
	}
}
