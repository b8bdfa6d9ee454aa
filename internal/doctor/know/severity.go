package know

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
	for i, t := range severities {
		if t == text {
			*s = Severity(i)
			return true
		}
	}
	return false
}
