package fleet

import (
	"fmt"
	"maps"
	"slices"

	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"
)

// keptApart says for each group but the first why its machines cannot join that
// one: the two machines that share nothing, and what they would have to share.
func keptApart(m *matrix.Matrix, g *grouping, groups []Group) []string {
	out := []string{}
	if len(groups) < 2 {
		return out
	}
	at := map[string]int{} // class line → number in g
	for i, s := range g.all {
		at[s.Line] = i
	}
	x := resolver.NewSession(m)
	for k := 1; k < len(groups); k++ {
		a, b, found := conflict(g, at, groups[0].Members, groups[k].Members)
		if !found {
			out = append(out, fmt.Sprintf("%s: each of its machines shares a build with each of the first group, no build is for all of both", groups[k].Pair))
			continue
		}
		out = append(out, fmt.Sprintf("%s × %s: %s", label(a), label(b), reason(x, a, b)))
	}
	return out
}

// conflict finds two classes that no pair serves, the largest first.
func conflict(g *grouping, at map[string]int, one, other []Member) (a, b *served, found bool) {
	for _, m := range one {
		for _, n := range other {
			i, j := at[m.Facts], at[n.Facts]
			if !g.kinds[g.of[i]].set.Intersects(g.kinds[g.of[j]].set) {
				return g.all[i], g.all[j], true
			}
		}
	}
	return nil, nil, false
}

// label is a class by its first host: "node-t4 (T4 (7.5), driver 418.40.04)".
func label(s *served) string { return s.Hosts[0] + " (" + s.Name() + ")" }

// reason says what two classes do not share. The GPUs of both are put into one
// machine with the newest driver: where a build serves that one, it is a driver or a
// system that keeps them apart, not the code.
func reason(x *resolver.Session, a, b *served) string {
	if k, l := builtFor(a), builtFor(b); k != l {
		return fmt.Sprintf("one needs a build for %s, the other one for %s", k, l)
	}
	p, q := a.Facts.Platform, b.Facts.Platform
	if p.OS != q.OS || p.Arch != q.Arch {
		return fmt.Sprintf("no torch that runs on both has the same build for %s %s and %s %s", p.OS, p.Arch, q.OS, q.Arch)
	}
	both := a.Facts
	both.GPUs = append(slices.Clone(a.Facts.GPUs), b.Facts.GPUs...)
	for i := range both.GPUs {
		both.GPUs[i].Index, both.GPUs[i].Visible, both.GPUs[i].KernelDriver = i, true, ""
	}
	both.Driver = &machine.Driver{Version: version.MustDotted("9999")}
	brief, err := x.Brief(both, resolver.Request{})
	if err != nil || len(brief.Options) == 0 || brief.Decision == resolver.Split {
		return "no build has code for both"
	}
	if a.Facts.Driver != nil && b.Facts.Driver != nil && a.Facts.Driver.Version.Compare(b.Facts.Driver.Version) != 0 {
		older := a.Facts.Driver.Version
		if b.Facts.Driver.Version.Less(older) {
			older = b.Facts.Driver.Version
		}
		return fmt.Sprintf("driver %s is too old for every build that has code for both", older)
	}
	return "no build runs on both systems with the Pythons and drivers that they have"
}

// builtFor is what the builds of a class are for.
func builtFor(s *served) string {
	switch b := s.options[0].Build; {
	case len(b) > 2 && b[:2] == "cu":
		return "CUDA"
	case len(b) > 4 && b[:4] == "rocm":
		return "ROCm"
	case b == "cpu":
		return "the CPU"
	default:
		return b
	}
}

// whatIf says how many groups there would be if drivers might change, and on how
// many machines; "" where that saves none.
func whatIf(m *matrix.Matrix, in *Inventory, r resolver.Request, o Options, now int) string {
	o.ChangeDriver = true
	p, err := Make(m, in, r, o)
	if err != nil || len(p.Groups) >= now {
		return ""
	}
	changes := map[string]int{}
	for _, g := range p.Groups {
		for _, c := range g.Members {
			if c.Driver != "" {
				changes[c.Driver] += len(c.Hosts)
			}
		}
	}
	said := ""
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		said += fmt.Sprintf("%s: %s; ", text.Count(changes[name], "machine"), name)
	}
	return fmt.Sprintf("%sthen %s (`--change-driver`)", said, text.Count(len(p.Groups), "group"))
}
