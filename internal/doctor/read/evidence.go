package read

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	Live     bool // of this machine's own log, about a GPU that cannot be used
	Mild     bool // the line is a warning that asks for nothing yet

	Of string // the package that raised it, as its traceback names it; "" not told
}

// A Printed is a line that a program prints when something is wrong, known by the
// catalogue or by the form of its sentence alone.
type Printed struct {
	Row   know.Row    // zero: known by its form
	Class *know.Class // nil: nobody says what it means
	Slots map[string]string
	At    Evidence
	Mild  bool // as a [Hit]'s, or it says itself what to install

	warned bool // the line calls itself a warning
}

// Warning reports whether the program goes on after it.
func (p Printed) Warning() bool {
	return p.warned || p.Class != nil && p.Class.Harmless || p.Row.Program != "" && !p.Row.Loud && !p.Row.Code
}

// Ours reports whether it may be of the GPU, the driver or what is installed.
func (p Printed) Ours() bool {
	return p.Class != nil && (p.Row.Code || p.Class.Question || p.Class.Warns || p.Class.Cause != "none" && !p.Warning())
}

// Told is what its class says of it and to do about it, with the words of the line in the
// slots; what has a slot that the line does not fill is left out.
func (p Printed) Told() (text string, ways []string) {
	who := cmp.Or(p.Row.Program, "the program")
	if p.Row.Shared {
		who = "the program"
	}
	words := []string{"{program}", who}
	for name, value := range p.Slots {
		words = append(words, "{"+name+"}", value)
	}
	fill := strings.NewReplacer(words...)
	text = fill.Replace(p.Class.Text)
	for _, says := range slices.Backward(p.Class.Says) {
		if says = fill.Replace(says); !strings.Contains(says, "{") {
			text = says
		}
	}
	for _, f := range p.Class.Fix {
		if f = fill.Replace(f); !strings.Contains(f, "{") {
			ways = append(ways, f)
		}
	}
	return text, ways
}

// A ClueHit is one clue of which every part was found.
type ClueHit struct {
	Clue *know.Clue
	At   []Evidence
}
