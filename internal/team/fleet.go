package team

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/fleet"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"
)

// A FleetTarget is one profile of a fleet's lock: the machines of one group that one
// description fits.
type FleetTarget struct {
	lock.Target
	Group   int // of the plan, from 0
	Members []fleet.Member

	facts    map[string]string
	machines []machine.Machine
}

// FleetTargets describes the groups of a plan as targets of a lock: within a group,
// machines of one system, architecture, libc and vendor are one target with all their
// GPUs, the oldest driver and the oldest libc of them, and a Python that all have. What
// keeps one description from standing for all of them (a driver that no two of their
// GPUs share, no common Python) splits it. Its error reports facts that are none.
func FleetTargets(m *matrix.Matrix, p *fleet.Plan) ([]FleetTarget, error) {
	var out []FleetTarget
	x := resolver.NewSession(m)
	for n, g := range p.Groups {
		parts, err := fleetParts(n, g)
		if err != nil {
			return nil, err
		}
		for _, t := range parts {
			whole := t.describe(g.Pair, t.commonPython(x, g.Pair))
			if whole.facts["python"] != "" && whole.resolves(x, g.Pair) {
				out = append(out, whole)
				continue
			}
			out = append(out, t.split(g.Pair)...)
		}
	}
	nameTargets(out)
	for i := range out {
		out[i].Facts = JoinFacts(out[i].facts)
	}
	slices.SortFunc(out, func(a, b FleetTarget) int { return byName(a.Target, b.Target) })
	return out, nil
}

// fleetParts are the members of a group by what a profile's conditions tell apart.
func fleetParts(n int, g fleet.Group) ([]FleetTarget, error) {
	whole := FleetTarget{Group: n, Members: g.Members}
	for _, member := range g.Members {
		h, err := machine.Decode([]byte(member.Facts))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", member.Name, err)
		}
		whole.machines = append(whole.machines, h)
	}
	return whole.parts(func(_ fleet.Member, h machine.Machine) string {
		key := []string{h.Platform.OS, h.Platform.Arch, lock.GPUKind(h), "", ""}
		if h.Platform.Environment == machine.WSL2 {
			key[3] = machine.WSL2
		}
		if h.Platform.Libc != nil {
			key[4] = h.Platform.Libc.Kind
		}
		return strings.Join(key, " ")
	}), nil
}

// parts are the members with the same key, in the order of the keys.
func (t FleetTarget) parts(key func(fleet.Member, machine.Machine) string) (out []FleetTarget) {
	parts := map[string]*FleetTarget{}
	for i, member := range t.Members {
		k := key(member, t.machines[i])
		if parts[k] == nil {
			parts[k] = &FleetTarget{Group: t.Group}
		}
		parts[k].Members = append(parts[k].Members, member)
		parts[k].machines = append(parts[k].machines, t.machines[i])
	}
	return text.Each(slices.Sorted(maps.Keys(parts)), func(k string) FleetTarget { return *parts[k] })
}

// describe writes the facts of a target whose machines are all its members.
func (t FleetTarget) describe(p fleet.Pair, python string) FleetTarget {
	var h machine.Machine
	var gpus []machine.GPU
	var driver *machine.Driver // the oldest of those that stay
	for i, one := range t.machines {
		gpus = append(gpus, one.GPUs...)
		if d := one.Driver; d != nil && t.Members[i].Driver == "" && (driver == nil || d.Version.Less(driver.Version)) {
			driver = d
		}
		h = older(h, one)
	}
	h.Driver = driver
	h.GPUs, h.Pythons = gpus, nil
	t.facts, _ = ParseFacts(classFacts(h))
	t.facts["torch"], t.facts["build"] = p.Torch, p.Build
	delete(t.facts, "python")
	if python != "" {
		t.facts["python"] = python
	}
	return t
}

// commonPython is the newest Python that every member has and that the pair runs
// with there; where none has one, what the members would be given. "" there is no
// common one.
func (t FleetTarget) commonPython(x *resolver.Session, p fleet.Pair) string {
	var common []string
	first := true
	for _, h := range t.machines {
		if len(h.Pythons) == 0 {
			continue // nobody knows what it has: uv brings one
		}
		var have []string
		for _, v := range h.Pythons {
			have = xslices.Add(have, v.Minor())
		}
		if first {
			common, first = have, false
		} else {
			common = slices.DeleteFunc(common, func(v string) bool { return !slices.Contains(have, v) })
		}
	}
	slices.SortFunc(common, func(a, b string) int {
		return cmp.Or(version.ComparePublic(strings.TrimSuffix(b, "t"), strings.TrimSuffix(a, "t")), strings.Compare(a, b))
	})
	if i := slices.IndexFunc(common, func(v string) bool { return t.describe(p, v).resolves(x, p) }); i >= 0 {
		return common[i]
	}
	same := t.Members[0].Python
	return say.Either(slices.ContainsFunc(t.Members, func(m fleet.Member) bool { return m.Python != same }), "", same)
}

// resolves reports whether one machine with all the GPUs of a target gets the pair.
// Its members do one by one; that a description does too is what a lock needs.
func (t FleetTarget) resolves(x *resolver.Session, p fleet.Pair) bool {
	h := t.machines[0]
	h.GPUs, h.Driver = nil, nil
	for _, o := range t.machines {
		for _, g := range o.GPUs {
			if !slices.ContainsFunc(h.GPUs, func(k machine.GPU) bool { return k.Name == g.Name && k.SM == g.SM }) {
				g.Index = len(h.GPUs)
				h.GPUs = append(h.GPUs, g)
			}
		}
		if o.Driver != nil && o.Driver.Version.String() == t.facts["driver"] {
			h.Driver = o.Driver
		}
	}
	q, err := pep508.Parse("torch=="+p.Torch, "")
	if err != nil {
		return false
	}
	b, err := x.Brief(h, resolver.Request{Requirements: []pep508.Requirement{q}, Build: p.Build, Python: t.facts["python"], Described: true})
	if err != nil {
		return false
	}
	var c *resolver.Choice // what [lockable] takes
	switch b.Decision {
	case resolver.Install, resolver.InstallCPU:
		c = b.Choice
	case resolver.FixDriver:
		c = b.Then
	}
	return c != nil && c.Torch == p.Torch && c.Build == p.Build
}

// split makes a target of the members with the same GPUs and the same Python.
func (t FleetTarget) split(p fleet.Pair) []FleetTarget {
	out := t.parts(func(m fleet.Member, h machine.Machine) string {
		return strings.Join(gpuNames(h, lock.GPUKind(h)), ",") + " " + m.Python
	})
	return text.Each(out, func(part FleetTarget) FleetTarget { return part.describe(p, part.Members[0].Python) })
}

// nameTargets names each target by its build, and by what else tells it from others
// of the same name.
func nameTargets(all []FleetTarget) {
	for i := range all {
		all[i].Name = strings.ToLower(lock.Slug(all[i].facts["build"]))
	}
	for _, key := range []string{"torch", "os", "arch", "libc", "python", "gpu", "driver"} {
		groups := map[string][]int{}
		for i := range all {
			groups[all[i].Name] = append(groups[all[i].Name], i)
		}
		for _, same := range groups {
			differ := slices.ContainsFunc(same, func(i int) bool { return all[i].facts[key] != all[same[0]].facts[key] })
			for _, i := range same {
				if differ && all[i].facts[key] != "" {
					all[i].Name += "-" + strings.ToLower(lock.Slug(all[i].facts[key]))
				}
			}
		}
	}
}

// Strayed names the members of targets that would not follow their own profile of a
// lock made from them, host by host, with what they would follow instead.
func Strayed(l *lock.Lock, all []FleetTarget) []string {
	var out []string
	for _, t := range all {
		for i, member := range t.Members {
			if member.Driver != "" {
				continue // once its driver was changed
			}
			at := fleet.Fold(member.Hosts)
			got, _, err := l.Pick(t.machines[i], false)
			want, werr := l.Profile(t.Name)
			switch {
			case err != nil:
				out = append(out, fmt.Sprintf("%s (%s): %v", at, member.Name, err))
			case werr == nil && (got.Torch != want.Torch || got.Build != want.Build):
				out = append(out, fmt.Sprintf("%s (%s) would follow profile %s, not %s: name it there with `--profile %s`", at, member.Name, got.Name, t.Name, t.Name))
			}
		}
	}
	return out
}

// Asked is what the team asks for: the requirements of its file, or of its present
// lock; none where there is neither.
func (t *Team) Asked() ([]pep508.Requirement, error) {
	old, err := t.Read()
	if err != nil {
		old = nil // what is wrong with it is said where it is written
	}
	w, err := t.wishes(old)
	if err != nil || len(w.Requirements)+len(w.Files) == 0 {
		return nil, err
	}
	if len(w.Targets) == 0 {
		w.Targets = map[string]string{"any": "gpu=none"} // an input needs one
	}
	in, err := t.input(w)
	if err != nil {
		return nil, err
	}
	all, _, err := wished(in)
	return all, err
}

// Targets are the descriptions of the team's targets, by name.
func (t *Team) Targets() (map[string]string, error) {
	old, err := t.Read()
	if err != nil {
		old = nil // as in Asked
	}
	w, err := t.wishes(old)
	return maps.Clone(w.Targets), err
}
