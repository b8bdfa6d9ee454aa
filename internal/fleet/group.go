package fleet

import (
	"cmp"
	"slices"
	"strings"

	"envfix/internal/text"
	"envfix/internal/xslices"

	"golang.org/x/tools/container/intsets"
)

// A grouping is classes and the pairs that run on them. Classes with the same
// options in the same order are one kind: real fleets have a handful.
type grouping struct {
	all    []*served
	pairs  []Pair
	number map[Pair]int
	of     []int // of all[i]: its kind
	kinds  []kind
	weight []int // pair → hosts × rank, where it runs; less is better
	exact  bool
}

type kind struct {
	set   bitset // the pairs that run there
	rank  []int  // pair → how many are preferred to it, -1 does not run
	hosts int
}

func newGrouping(all []*served) *grouping {
	g := &grouping{all: all, number: map[Pair]int{}, exact: true}
	for _, s := range all {
		for _, o := range s.options {
			p := Pair{o.Torch, o.Build}
			if _, ok := g.number[p]; !ok {
				g.number[p] = len(g.pairs)
				g.pairs = append(g.pairs, p)
			}
		}
	}
	g.weight = make([]int, len(g.pairs))
	seen := map[string]int{}
	for _, s := range all {
		k, ok := seen[s.key()]
		if !ok {
			k = len(g.kinds)
			seen[s.key()] = k
			g.kinds = append(g.kinds, g.newKind(s))
		}
		g.of = append(g.of, k)
		g.kinds[k].hosts += len(s.Hosts)
		for i, o := range s.options {
			g.weight[g.number[Pair{o.Torch, o.Build}]] += i * len(s.Hosts)
		}
	}
	return g
}

// key is the options of a class in their order.
func (s *served) key() string {
	var b strings.Builder
	for _, o := range s.options {
		b.WriteString(o.Torch + " " + o.Build + "\n")
	}
	return b.String()
}

func (g *grouping) newKind(s *served) kind {
	k := kind{set: new(intsets.Sparse), rank: make([]int, len(g.pairs))}
	for i := range k.rank {
		k.rank[i] = -1
	}
	for i, o := range s.options {
		n := g.number[Pair{o.Torch, o.Build}]
		k.set.Insert(n)
		k.rank[n] = i
	}
	return k
}

// choose returns the pairs of the groups.
func (g *grouping) choose(o Options) []int {
	if len(g.all) == 0 {
		return nil
	}
	kept, rest := g.keep(o.Previous)
	var chosen []int
	if o.SameTorch {
		chosen = g.sameTorch(kept, rest)
	} else {
		chosen = g.improve(append(kept, g.cover(rest, nil)...), len(kept))
	}
	if o.MaxGroups > 0 && len(chosen) > o.MaxGroups {
		g.exact = false
		return greedy(g.sets(), func(i int) int { return g.kinds[i].hosts }, len(g.pairs), g.weight, o.MaxGroups)
	}
	return chosen
}

// keep takes the earlier groups that still serve somebody, and returns the classes
// that none of them serves.
func (g *grouping) keep(previous []Pair) (kept []int, rest []bitset) {
	for _, p := range previous {
		n, ok := g.number[p]
		if ok && !slices.Contains(kept, n) {
			kept = append(kept, n)
		}
	}
	return kept, xslices.Filter(g.sets(), func(s bitset) bool { return !slices.ContainsFunc(kept, s.Has) })
}

func (g *grouping) sets() []bitset {
	return text.Each(g.kinds, func(k kind) bitset { return k.set })
}

// cover is the fewest pairs for some classes, of those that admit lets through.
func (g *grouping) cover(sets []bitset, admit func(Pair) bool) []int {
	if admit != nil {
		var mask []bitset
		for _, s := range sets {
			t := new(intsets.Sparse)
			for n, p := range g.pairs {
				if s.Has(n) && admit(p) {
					t.Insert(n)
				}
			}
			if t.IsEmpty() {
				return nil
			}
			mask = append(mask, t)
		}
		sets = mask
	}
	chosen, exact := cover(sets, len(g.pairs), g.weight)
	g.exact = g.exact && exact
	return chosen
}

// sameTorch covers with one torch: the one that needs the fewest groups, the newest
// of those. Where none is for all, each class keeps its own.
func (g *grouping) sameTorch(kept []int, rest []bitset) []int {
	torches := xslices.Once(text.Each(g.pairs, func(p Pair) string { return p.Torch }))
	var best []int
	least := 0
	for _, t := range torches {
		if slices.ContainsFunc(kept, func(n int) bool { return g.pairs[n].Torch != t }) {
			continue
		}
		c := g.cover(rest, func(p Pair) bool { return p.Torch == t })
		if len(c) == 0 && len(rest) > 0 {
			continue
		}
		c = append(slices.Clone(kept), c...)
		if w := g.cost(c); best == nil || len(c) < len(best) || len(c) == len(best) && w < least {
			best, least = c, w
		}
	}
	if best == nil {
		return g.improve(append(kept, g.cover(rest, nil)...), len(kept))
	}
	return best
}

// best is the pair of chosen that is preferred here, -1 where none runs.
func (k *kind) best(chosen []int) int {
	best := -1
	for _, n := range chosen {
		if r := k.rank[n]; r >= 0 && (best < 0 || r < k.rank[best]) {
			best = n
		}
	}
	return best
}

// cost is how far from their own first choices the machines are, summed.
func (g *grouping) cost(chosen []int) int {
	sum := 0
	for i := range g.kinds {
		k := &g.kinds[i]
		if n := k.best(chosen); n >= 0 {
			sum += k.rank[n] * k.hosts
		}
	}
	return sum
}

// improve exchanges one pair at a time, those before fixed aside, for one that
// serves the same classes and is liked better, until none is: the number of groups
// stays the least, and their torch is the newest that they can share.
func (g *grouping) improve(chosen []int, fixed int) []int {
	now := g.cost(chosen)
	for again := true; again; {
		again = false
		for k := fixed; k < len(chosen); k++ {
			for n := range g.pairs {
				try := slices.Clone(chosen)
				try[k] = n
				if slices.Contains(chosen, n) || !g.serves(try) {
					continue
				}
				if c := g.cost(try); c < now {
					chosen, now, again = try, c, true
				}
			}
		}
	}
	return chosen
}

func (g *grouping) serves(chosen []int) bool {
	return !slices.ContainsFunc(g.kinds, func(k kind) bool { return !slices.ContainsFunc(chosen, k.set.Has) })
}

// groups puts every class into the group that it likes best. Who runs none of the
// chosen pairs is listed in p as unserved.
func (g *grouping) groups(chosen []int, p *Plan) []Group {
	out := make([]Group, len(chosen))
	for k, n := range chosen {
		out[k].Pair = g.pairs[n]
	}
	for i, s := range g.all {
		k := &g.kinds[g.of[i]]
		n := k.best(chosen)
		if n < 0 {
			p.Unserved = append(p.Unserved, Unserved{Name: s.Name(), Why: "none of the groups serves it; it would be one group more than asked for",
				Hint: "raise `--max-groups`", Facts: s.Line, Hosts: s.Hosts})
			continue
		}
		x := &out[slices.Index(chosen, n)]
		x.Members = append(x.Members, s.member(g.pairs[n], k.rank[n]))
		x.Hosts += len(s.Hosts)
	}
	out = slices.DeleteFunc(out, func(x Group) bool { return len(x.Members) == 0 })
	slices.SortStableFunc(out, func(a, b Group) int {
		return cmp.Or(b.Hosts-a.Hosts, strings.Compare(b.Torch, a.Torch), strings.Compare(b.Build, a.Build))
	})
	for i := range out {
		slices.SortStableFunc(out[i].Members, func(a, b Member) int {
			return cmp.Or(len(b.Hosts)-len(a.Hosts), strings.Compare(a.Name, b.Name), strings.Compare(a.Facts, b.Facts))
		})
	}
	return out
}

func (s *served) member(p Pair, rank int) Member {
	at := s.Facts.Platform
	return Member{Name: s.Name(), OS: at.OS, Arch: at.Arch, Python: s.options[rank].Python, Driver: s.change[p], Facts: s.Line, Hosts: s.Hosts}
}
