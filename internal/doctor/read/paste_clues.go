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
		if foreign && r.k.Checks[c.Checks[0]].OfTorch() || slices.ContainsFunc(indexes(len(c.All)), func(j int) bool { return !r.worded(i*know.MaxParts + j) }) {
			continue
		}
		var said []Evidence
		for j := range c.All {
			s, ok := r.part(i*know.MaxParts + j)
			if !ok {
				break
			}
			said = append(said, s)
		}
		if len(said) < len(c.All) || slices.ContainsFunc(indexes(len(c.None)), func(j int) bool {
			_, ok := r.part(i*know.MaxParts + len(c.All) + j)
			return ok
		}) {
			continue
		}
		r.c.Read++
		r.c.Clues = append(r.c.Clues, ClueHit{Clue: c, At: said})
	}
}

// worded reports whether a line was kept that may hold a part of a clue.
func (r *Reader) worded(n int) bool {
	for test, end := r.pass.Part(n); test < end; test++ {
		if len(r.words[test]) > 0 {
			return true
		}
	}
	return false
}

// part returns the first kept line that a part of a clue matches.
func (r *Reader) part(n int) (Evidence, bool) {
	first := len(r.kept)
	for test, end := r.pass.Part(n); test < end; test++ {
		for _, i := range r.words[test] {
			if i >= first {
				break
			}
			if r.spent > 2*budget {
				break
			}
			r.spent += len(r.kept[i].text)
			if r.pass.Tests[test].Re().MatchString(r.kept[i].text) {
				first = i
			}
		}
	}
	if first == len(r.kept) {
		return Evidence{}, false
	}
	return r.kept[first].said, true
}

func indexes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
