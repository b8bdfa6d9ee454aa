package doctor

import (
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/lazy"
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

var pipInstall = lazy.Regexp("^`(?:uv )?pip install ([^`]+)`")

// Installs are the requirements that the first remedy of a finding installs; nil: it does
// something else, or installs what no index has.
func (f Finding) Installs() (out []string) {
	if len(f.Fix) == 0 {
		return nil
	}
	m := pipInstall().FindStringSubmatch(f.Fix[0])
	if m == nil {
		return nil
	}
	words := strings.Fields(m[1])
	for i := 0; i < len(words); i++ {
		switch word := strings.Trim(words[i], `"'`); {
		case slices.Contains([]string{"--python", "--index-url", "--no-binary"}, word):
			i++
		case slices.Contains([]string{"-r", "-e", "-c", "--no-build-isolation"}, word), strings.ContainsAny(word, "/{"):
			return nil
		case !strings.HasPrefix(word, "-"):
			out = append(out, word)
		}
	}
	return out
}
