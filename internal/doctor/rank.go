package doctor

import (
	"cmp"
	"slices"

	"envfix/internal/doctor/evidence"
	"envfix/internal/doctor/know"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// rank orders findings and says of each what it explains. Of two findings the first
// is, in this order: the one that nothing explains, the one with the better proof, the one
// that explains more, the worse one, the one that stands first in the text.
func rank(found evidence.Found, graph know.Graph) []*ranked {
	in := text.Each(found, func(f *evidence.Finding) *ranked { return &ranked{Finding: f} })
	explained := map[*ranked]int{}
	for _, a := range in {
		for _, b := range in {
			if a == b || !brings(a.Finding, b.Finding, graph) || brings(b.Finding, a.Finding, graph) {
				continue
			}
			explained[b] = 1
			a.explains = xslices.Add(a.explains, b.Check)
		}
	}
	slices.SortStableFunc(in, func(a, b *ranked) int {
		return cmp.Or(
			explained[a]-explained[b],
			int(worth(b.Finding)-worth(a.Finding)),
			len(b.explains)-len(a.explains),
			int(b.Severity-a.Severity),
			a.Order()-b.Order())
	})
	for _, f := range in {
		slices.Sort(f.explains)
	}
	return in
}

// worth is a finding's proof; a cause outside of the vocabulary counts a kind less.
func worth(f *evidence.Finding) evidence.Proof {
	if f.Cause == "none" {
		return f.Proof.Less()
	}
	return f.Proof
}

// named reports whether the data says of a that it is the reason of b.
func named(a, b *evidence.Finding) bool {
	return slices.Contains(a.Over, b.Check) || slices.Contains(a.Over, know.Everything)
}

// brings reports whether a brings b about: mend a, and b goes away. What a finding
// says of a check itself goes before what the graph says of its cause.
func brings(a, b *evidence.Finding, graph know.Graph) bool {
	switch {
	case a.Check == b.Check:
		return false
	case named(a, b):
		return true
	case named(b, a):
		return false
	case a.Cause == b.Cause:
		return a.Proof > b.Proof || a.Proof == b.Proof && a.Order() < b.Order()
	case b.Cause == "none":
		return a.Proof >= evidence.Strong
	case !graph.Brings(a.Cause, b.Cause):
		return false
	}
	mutual := graph.Brings(b.Cause, a.Cause)
	return a.Proof >= evidence.Weak && !a.Proof.FarBelow(b.Proof) && !(mutual && a.Proof <= b.Proof)
}
