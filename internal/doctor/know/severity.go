package know

import "slices"

// A Severity is how bad a finding is.
type Severity int

// The severities.
const (
	Note Severity = iota
	Warning
	Error
)

var severities = []string{"note", "warning", "error"}

func (s Severity) String() string { return severities[s] }

// MarshalText writes note, warning or error.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Parse reads a severity by its word.
func (s *Severity) Parse(text string) bool {
	at := slices.Index(severities, text)
	if at >= 0 {
		*s = Severity(at)
	}
	return at >= 0
}
