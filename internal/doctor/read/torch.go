package read

import (
	"strings"

	"envfix/internal/say"
)

// SeesGPU reports whether torch says that it sees a GPU.
func (t Torch) SeesGPU() bool { return t.Available != nil && *t.Available }

// SeesNone reports whether torch says that it sees no GPU.
func (t Torch) SeesNone() bool { return t.Available != nil && !*t.Available }

// Named is the version with its label: 2.9.1+cu130.
func (t Torch) Named() string {
	return say.Either(t.Label == "" || strings.Contains(t.Version, "+"), t.Version, t.Version+"+"+t.Label)
}
