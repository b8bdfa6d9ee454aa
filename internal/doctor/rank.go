package doctor

import (
	"cmp"
	"slices"

	"envfix/internal/doctor/know"
)

// The weights of findings: how much they are worth believing. A finding is the
// reason of another only where its own proof is not far weaker (margin).
const (
	trifle  = 15 // worth knowing
	weak    = 25 // a symptom's usual reason, a vague word
	hint    = 40 // several weak ones, or one fact that usually means it
	strong  = 55 // a message that names its cause, or clear words
	message = 60
	likely  = 70 // a message and a fact together
	proven  = 85 // facts that leave no other
	margin  = 20
)

// rank orders findings and says of each what it explains. Of two findings the first
// is, in this order: the one that nothing explains, the one worth more, the one that
// explains more, the worse one, the one that stands first in the text.
func rank(in []*finding, graph know.Graph) []*finding {
	explained := map[*finding]int{}
	for _, a := range in {
		for _, b := range in {
			if a == b || !brings(a, b, graph) || brings(b, a, graph) {
				continue
			}
			explained[b] = 1
			if !slices.Contains(a.Explains, b.Check) {
				a.Explains = append(a.Explains, b.Check)
			}
		}
	}
	slices.SortStableFunc(in, func(a, b *finding) int {
		return cmp.Or(
			explained[a]-explained[b],
			b.worth()-a.worth(),
			len(b.Explains)-len(a.Explains),
			int(b.Severity-a.Severity),
			a.order-b.order)
	})
	for _, f := range in {
		slices.Sort(f.Explains)
	}
	return in
}

// worth is a finding's weight; a cause outside of the vocabulary counts a margin less.
func (f *finding) worth() int {
	if f.Cause == "none" {
		return f.weight - margin
	}
	return f.weight
}

// brings reports whether a brings b about: mend a, and b goes away. What a finding
// says of a check itself goes before what the graph says of its cause.
func brings(a, b *finding, graph know.Graph) bool {
	switch {
	case a.Check == b.Check:
		return false
	case slices.Contains(a.over, b.Check):
		return true
	case slices.Contains(b.over, a.Check):
		return false
	case a.Cause == b.Cause:
		return a.weight > b.weight || a.weight == b.weight && a.order < b.order
	case b.Cause == "none":
		return a.weight >= strong
	case !graph.Brings(a.Cause, b.Cause):
		return false
	}
	mutual := graph.Brings(b.Cause, a.Cause)
	return a.weight >= weak && a.weight+margin >= b.weight && !(mutual && a.weight <= b.weight)
}
