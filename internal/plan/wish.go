package plan

import "envfix/internal/describe"

// A Wish is what the command line asked for when an environment was made and no file
// says. It is kept in the environment's own record, so that a later command that asks for
// nothing judges by it.
type Wish struct {
	Packages   []string          `json:"packages,omitempty"` // requirements as they were written
	Build      string            `json:"build,omitempty"`
	OnlyIndex  string            `json:"only_index,omitempty"`
	Machine    *describe.Machine `json:"machine,omitempty"`    // that it was made for, where one was described
	Remembered bool              `json:"remembered,omitempty"` // nobody asked this time
}

// Words are the arguments that say the same on the command line.
func (w *Wish) Words() []string {
	if w == nil {
		return nil
	}
	words := append([]string(nil), w.Packages...)
	if w.Build != "" {
		words = append(words, "--build", w.Build)
	}
	if w.OnlyIndex != "" {
		words = append(words, "--only-index", w.OnlyIndex)
	}
	if w.Machine != nil {
		words = append(words, w.Machine.Args()...)
	}
	return words
}
