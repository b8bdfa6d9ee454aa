package doctor

import (
	"slices"

	"envfix/internal/doctor/know"
)

// A Way is how a plan mends a finding.
type Way int

// The ways.
const (
	NoWay     Way = iota // no plan does: a person has to
	AsItIs               // the same packages built anew, or variables
	Otherwise            // another choice of build or driver
)

// WayOf is how a plan mends a finding. What a finding that is mended explains goes
// away with it. The user's own files and variables (outside) no installation takes away.
func WayOf(k *know.Knowledge, f Finding, all []Finding) Way {
	outside := []string{"PY004", "PY013", "PY014"}
	switch {
	case !f.Mend.IsZero():
		return AsItIs
	case f.Severity == know.Note, f.Cause != "none" &&
		k.Causes[f.Cause].Mended == "", slices.Contains(outside, f.Check):
		return NoWay
	case slices.ContainsFunc(all, func(o Finding) bool {
		return o.Mend.Rebuild &&
			slices.Contains(o.Explains, f.Check)
	}):
		return AsItIs
	}
	return Otherwise
}
