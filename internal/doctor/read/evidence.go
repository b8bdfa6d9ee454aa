package read

import (
	"fmt"

	"envfix/internal/doctor/know"
)

// A Evidence is where something was read. The zero At: not said.
type Evidence struct {
	File string // "" where there is but one
	Line int    // from 1; 0: a fact of the machine
	Text string // the line, cleaned and cut
}

// IsZero reports whether nothing was read.
func (s Evidence) IsZero() bool { return s == Evidence{} }

func (s Evidence) String() string {
	switch {
	case s.Line == 0:
		return s.Text
	case s.File != "":
		return fmt.Sprintf("%s, line %d: %s", s.File, s.Line, s.Text)
	}
	return fmt.Sprintf("line %d: %s", s.Line, s.Text)
}

// A Hit is one message found.
type Hit struct {
	Message  *know.Message
	At       Evidence
	Captures map[string]string
	Count    int // lines that held it, counted up to a cap
}

// A ClueHit is one clue of which every part was found.
type ClueHit struct {
	Clue *know.Clue
	At   []Evidence
}
