package read

import "slices"

// A Subject is what a text is about, as far as its words tell.
type Subject struct {
	GPU      bool // it names a GPU, or what computes on one
	Computes bool // … a program that computes, or a driver's tool
	Plays    bool // games, films, a screen
	Version  bool // a heading that names a version, as a list of changes has it
	News     bool // the text begins as a list of changes does
	Changes  int  // lines of such a list
	Trouble  bool // something is wrong
	Asks     bool // … in so many words, or somebody asks
	Wishes   bool // somebody asks for a feature
}

// elsewhere reports whether a text is about something else than a GPU that computes:
// people's words, the clues, are too common to mean anything there. So is a text of
// more than shortText lines that names no GPU, and nothing that computes on one (in a
// few lines people may leave out what they speak of), one on games and screens alone,
// and a list of changes.
func (r *Reader) elsewhere() bool {
	s := r.c.Subject
	return !s.GPU && r.lines > shortText || s.Plays && !s.Computes || s.Version && s.Changes > 1 || s.News &&
		len(r.c.Hits) == 0
}

// forgetOthers drops what programs of every kind bring about: an installer that finds
// no version of a package, a library that misses a symbol, and a display driver that a game stops.
func (r *Reader) forgetOthers() {
	s := r.c.Subject
	r.c.Hits = slices.DeleteFunc(r.c.Hits, func(h Hit) bool {
		anybodys := h.Message.ID == "pip-no-version" || h.Message.ID == "uv-no-platform-wheel" ||
			h.Message.ID == "extension-abi"
		return anybodys && !s.GPU || h.Message.ID == "nvlddmkm" && s.Plays && !s.Computes
	})
}
