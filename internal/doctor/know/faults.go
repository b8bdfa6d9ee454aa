package know

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/xslices"
)

// A Fault is one way in which an installer fails, told from its words, as
// data/installers.yaml explains.
type Fault struct {
	Words       []string
	What, Hint  string
	Exit, Again int
}

func (k *Knowledge) addFault(_ record, f *Fault) error {
	if len(f.Words) == 0 || slices.ContainsFunc(f.Words, func(w string) bool { return w == "" || w != strings.ToLower(w) }) {
		return fmt.Errorf("%q: words are what the lines hold, in lower case", f.Words)
	}
	k.Faults = append(k.Faults, f)
	return nil
}

// Fault is that of the last lines of an installer, in lower case; nil none that is known.
func (k *Knowledge) Fault(lines string) *Fault {
	f, _ := xslices.Find(k.Faults, func(f *Fault) bool {
		return slices.ContainsFunc(f.Words, func(w string) bool { return strings.Contains(lines, w) })
	})
	return f
}
