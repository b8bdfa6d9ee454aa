package read

import (
	"slices"

	"envfix/internal/doctor/know"
)

// A kept line is looked at again for what people say in their own words, once
// everything was read: most clues fall with their first part.
type kept struct {
	text string
	said Evidence
}

func (r *Reader) keep(test int, l string, said Evidence) {
	if n := len(r.kept); n == 0 || r.kept[n-1].said != said || r.kept[n-1].text != l {
		r.kept = append(r.kept, kept{l, said})
	}
	r.words[test] = append(r.words[test], len(r.kept)-1)
}

// clues turns the parts found into the clues that are complete.
func (r *Reader) clues() {
	if r.elsewhere() {
		r.c.Printed = slices.DeleteFunc(r.c.Printed, func(p Printed) bool { return p.Class != nil && p.Class.Question })
		return
	}
	foreign := slices.ContainsFunc(r.c.Printed, func(p Printed) bool { return p.Class != nil && p.Class.Foreign })
	for i, c := range r.k.Clues {
		if foreign && r.k.Checks[c.Checks[0]].OfTorch() {
			continue
		}
		said := r.parts(i*know.MaxParts, c)
		alone := func(s Evidence) bool { // what a program prints says no more than its message, in a line of its own
			return s == said[0] && (harmless(r.k, s.Text) || Warned(s.Text) || c.Weak && (raised().MatchString(s.Text) || logged().MatchString(s.Text)))
		}
		if slices.ContainsFunc(said, func(s Evidence) bool { return !alone(s) }) {
			r.c.Read++
			r.c.Clues = append(r.c.Clues, ClueHit{Clue: c, At: said})
		}
	}
}

// parts are where those of a clue stand; nil where one is not found, or one that must not be is.
func (r *Reader) parts(first int, c *know.Clue) (said []Evidence) {
	for j := range len(c.All) + len(c.None) {
		s, found := r.part(first+j, j >= len(c.All))
		if found != (j < len(c.All)) {
			return nil
		}
		said = append(said, s)
	}
	return said[:len(c.All)]
}

// part returns the first kept line that a part of a clue matches, of which a log says that nothing is wrong where quiet is so alone.
func (r *Reader) part(n int, quiet bool) (Evidence, bool) {
	first := len(r.kept)
	for test, end := r.pass.Part(n); test < end; test++ {
		for _, i := range r.words[test] {
			if i >= first || r.spent > 2*budget {
				break
			}
			r.spent += len(r.kept[i].text)
			if r.pass.Tests[test].Re().MatchString(r.kept[i].text) && (quiet || !Quiet(r.kept[i].text)) {
				first = i
			}
		}
	}
	if first == len(r.kept) {
		return Evidence{}, false
	}
	return r.kept[first].said, true
}
