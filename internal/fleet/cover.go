package fleet

import (
	"slices"

	"golang.org/x/tools/container/intsets"
)

// A bitset holds small whole numbers.
type bitset = *intsets.Sparse

// maxNodes bounds the exact search. Fleets of tens of kinds need a few hundred.
const maxNodes = 10_000

// cover chooses the fewest options so that each set holds one of them: a minimum
// hitting set. options[i] is a set of option numbers; weight[o] orders options that
// do equally well, the smaller the better. exact is false where the search was cut
// short: then the answer is the greedy one, at most H(n) times the least, n being
// the number of sets (Chvátal 1979, "A greedy heuristic for the set-covering
// problem").
func cover(sets []bitset, options int, weight []int) (chosen []int, exact bool) {
	sets = hardest(sets)
	if len(sets) == 0 {
		return nil, true
	}
	best := greedy(sets, func(int) int { return 1 }, options, weight, len(sets))
	for k := (&search{sets: sets}).apart(nil); k < len(best); k++ {
		s := search{sets: sets, nodes: maxNodes}
		if found := s.hit(nil, k); found != nil {
			best = found
			break
		}
		if s.nodes <= 0 {
			return best, false
		}
	}
	slices.Sort(best)
	return best, true
}

// hardest drops sets that are hit whenever another is.
func hardest(sets []bitset) []bitset {
	var out []bitset
	ordered := slices.Clone(sets)
	slices.SortStableFunc(ordered, func(a, b bitset) int { return a.Len() - b.Len() })
	for _, s := range ordered {
		if !slices.ContainsFunc(out, func(o bitset) bool { return o.SubsetOf(s) }) {
			out = append(out, s)
		}
	}
	return out
}

// greedy takes again and again the option that stands in most of the sets in which none of
// those taken does, each counted by its worth, and of equal ones the lightest; at most so
// many. n of them have at least 63 % of what any n can (Nemhauser, Wolsey and Fisher 1978).
func greedy(sets []bitset, worth func(set int) int, options int, weight []int, most int) (chosen []int) {
	for len(chosen) < most {
		best, highest := -1, 0
		for o := range options {
			n := 0
			for i, s := range sets {
				if s.Has(o) && !slices.ContainsFunc(chosen, s.Has) {
					n += worth(i)
				}
			}
			if n > highest || n == highest && n > 0 && weight[o] < weight[best] {
				best, highest = o, n
			}
		}
		if best < 0 {
			break
		}
		chosen = append(chosen, best)
	}
	return chosen
}

// A search looks for k options that hit all sets.
type search struct {
	sets  []bitset
	nodes int // left
}

// hit branches on the first set that is not hit yet; the sets are in order of size,
// so that few branches are opened.
func (s *search) hit(chosen []int, k int) []int {
	if s.nodes--; s.nodes < 0 {
		return nil
	}
	first := slices.IndexFunc(s.sets, func(x bitset) bool {
		return !slices.ContainsFunc(chosen, x.Has)
	})
	if first < 0 {
		return slices.Clone(chosen)
	}
	if len(chosen) == k || s.apart(chosen) > k-len(chosen) {
		return nil
	}
	for _, o := range s.sets[first].AppendTo(nil) {
		if found := s.hit(append(chosen, o), k); found != nil {
			return found
		}
	}
	return nil
}

// apart is a lower bound: sets not hit yet of which no two share an option need one
// each.
func (s *search) apart(chosen []int) int {
	var taken []bitset
	for _, x := range s.sets {
		if !slices.ContainsFunc(chosen, x.Has) && !slices.ContainsFunc(taken, x.Intersects) {
			taken = append(taken, x)
		}
	}
	return len(taken)
}
