package team

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/lock"
)

// A Verdict is what [Team.Check] found.
type Verdict struct {
	Stale []string // why the lock has to be made again
	Notes []string // what does not make it wrong: newer data and what it would choose
	Cure  string   // the command that makes it current
}

// Check says whether a plan that follows the lock would be refused, and whether the
// lock is still what is asked for: the input, the bytes of each pylock file, where its
// files may come from, and whether each profile's choice still holds. That newer data
// would choose another build, and that a release was yanked, makes no lock stale; only
// the latter is asked of the network.
func (t *Team) Check(ctx context.Context, ask Wish, old *lock.Lock) (*Verdict, error) {
	_, in, err := t.asked(&ask, old)
	if err != nil {
		return nil, err
	}
	v := &Verdict{Stale: inputChanges(old.Input, in), Cure: "`envfix lock` writes it anew"}
	if err := t.readable(old); err != nil {
		v.Stale = append(v.Stale, err.Error())
	}
	allowed := t.allowed(ask.Mirrors)
	for i := range old.Profiles {
		if _, err := t.bound(&old.Profiles[i], allowed); err != nil {
			v.Stale = append(v.Stale, "profile "+old.Profiles[i].Name+": "+err.Error())
		}
	}
	if len(v.Stale) > 0 && !slices.Equal(old.Input.Targets, in.Targets) {
		return v, nil // other targets: there is nothing to compare choices with
	}
	drafts, err := t.drafts(in, basis{hold: old, keep: old})
	if err != nil {
		v.Stale = append(v.Stale, "profiles: "+err.Error())
		v.Cure = "`envfix lock --upgrade-matrix` chooses torch anew"
		return v, nil
	}
	for _, d := range drafts {
		if p, err := old.Profile(d.profile.Name); err == nil {
			v.Stale = append(v.Stale, profileChanges(*p, d.profile)...)
		}
	}
	t.newerData(v, in, old)
	if len(v.Stale) == 0 && !ask.Offline {
		v.Notes = append(v.Notes, t.yanked(ctx, ask, old)...)
	}
	return v, nil
}

// newerData notes what the data of this envfix would choose instead.
func (t *Team) newerData(v *Verdict, in lock.Input, old *lock.Lock) {
	if old.Matrix.SHA256 == t.Matrix.SHA256 {
		return
	}
	v.Notes = append(v.Notes, fmt.Sprintf("made with matrix %s, this envfix has %s: the lock stays right; `envfix lock --upgrade-matrix` chooses anew",
		clean(old.Matrix.Version), t.Matrix.Version))
	drafts, err := t.drafts(in, basis{keep: old})
	if err != nil {
		return
	}
	for _, d := range drafts {
		if p, err := old.Profile(d.profile.Name); err == nil {
			for _, line := range profileChanges(*p, d.profile) {
				v.Notes = append(v.Notes, "it would choose: "+line)
			}
		}
	}
}

// inputChanges names what was asked for then and is not asked for now.
func inputChanges(old, now lock.Input) []string {
	var out []string
	was, is := inputLines(old), inputLines(now)
	for _, l := range was {
		if !slices.Contains(is, l) {
			out = append(out, "input: no longer "+clean(l))
		}
	}
	for _, l := range is {
		if !slices.Contains(was, l) {
			out = append(out, "input: now "+clean(l))
		}
	}
	return out
}

// inputLines says what was asked for, a line each, in order.
func inputLines(in lock.Input) []string {
	var l []string
	for _, r := range in.Requirements {
		l = append(l, "requirement "+r)
	}
	for _, s := range in.Sources {
		for what, list := range map[string][]string{
			"requirement": s.Requirements, "constraint": s.Constraints, "override": s.Overrides,
			"place": s.Places, "hash": s.Hashes, "option": s.Options,
		} {
			for _, r := range list {
				l = append(l, s.Path+": "+what+" "+r)
			}
		}
		if s.Python != "" {
			l = append(l, s.Path+": requires-python "+s.Python)
		}
	}
	for what, list := range map[string][]string{"constraint": in.Constraints, "build from source": in.Build, "meant as written": in.AsNamed} {
		for _, r := range list {
			l = append(l, what+" "+r)
		}
	}
	if p, err := policyOf(in.Policy, ""); err == nil && p != nil {
		l = append(l, "policy: "+p.Text())
	}
	for _, i := range in.Indexes {
		l = append(l, "index "+i.Name+" "+i.URL+" for "+strings.Join(i.Packages, ", "))
	}
	for what, one := range map[string]string{"default index": in.DefaultIndex, "defaults": in.Defaults, "python": in.Python} {
		if one != "" {
			l = append(l, what+" "+one)
		}
	}
	for _, g := range in.Groups {
		l = append(l, "group "+g.Name+": "+strings.Join(g.Requirements, ", "))
	}
	for _, t := range in.Targets {
		l = append(l, "target "+t.Name+": "+t.Facts)
	}
	if in.SameTorch {
		l = append(l, "same-torch")
	}
	slices.Sort(l)
	return l
}

func profileChanges(old, now lock.Profile) []string {
	var out []string
	change := func(what, a, b string) {
		if a != b {
			out = append(out, fmt.Sprintf("profile %s: %s %s → %s", old.Name, what, clean(a), clean(b)))
		}
	}
	// The label of a default-index build is known only from its wheel.
	if now.Torch != "" && comparePublic(old.Torch, now.Torch) != 0 { // "": of a channel, whose day the lock pins
		change("torch", old.Torch, now.Torch)
	}
	change("build", old.Build, now.Build)
	change("Python", old.Python, now.Python)
	change("driver", old.Match.Driver, now.Match.Driver)
	change("compute capabilities", strings.Join(old.Match.SMs, " "), strings.Join(now.Match.SMs, " "))
	return out
}
