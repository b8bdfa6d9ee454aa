package team

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/text"
	"envfix/internal/version"
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
			v.Notes = append(v.Notes, text.Each(profileChanges(*p, d.profile), func(line string) string { return "it would choose: " + line })...)
		}
	}
}

// inputChanges names what was asked for then and is not asked for now.
func inputChanges(old, now lock.Input) []string {
	was, is := inputLines(old), inputLines(now)
	gone := slices.DeleteFunc(slices.Clone(was), func(l string) bool { return slices.Contains(is, l) })
	come := slices.DeleteFunc(is, func(l string) bool { return slices.Contains(was, l) })
	return append(
		text.Each(gone, func(l string) string { return "input: no longer " + clean(l) }),
		text.Each(come, func(l string) string { return "input: now " + clean(l) })...)
}

// inputLines says what was asked for, a line each, in order.
func inputLines(in lock.Input) (lines []string) {
	add := func(what string, asked ...string) {
		for _, a := range asked {
			if a != "" {
				lines = append(lines, what+" "+a)
			}
		}
	}
	for _, s := range in.Sources {
		add(s.Path+": requirement", s.Requirements...)
		add(s.Path+": constraint", s.Constraints...)
		add(s.Path+": override", s.Overrides...)
		add(s.Path+": place", s.Places...)
		add(s.Path+": hash", s.Hashes...)
		add(s.Path+": option", s.Options...)
		add(s.Path+": requires-python", s.Python)
	}
	add("requirement", in.Requirements...)
	add("constraint", in.Constraints...)
	add("build from source", in.Build...)
	add("meant as written", in.AsNamed...)
	if p, err := policyOf(in.Policy, ""); err == nil && p != nil {
		add("policy:", p.Text())
	}
	for _, i := range in.Indexes {
		add("index", i.Name+" "+i.URL+" for "+strings.Join(i.Packages, ", "))
	}
	add("default index", in.DefaultIndex)
	add("defaults", in.Defaults)
	add("python", in.Python)
	for _, g := range in.Groups {
		add("group", g.Name+": "+strings.Join(g.Requirements, ", "))
	}
	for _, t := range in.Targets {
		add("target", t.Name+": "+t.Facts)
	}
	if in.SameTorch {
		lines = append(lines, "same-torch")
	}
	slices.Sort(lines)
	return lines
}

func profileChanges(old, now lock.Profile) []string {
	var out []string
	change := func(what, a, b string) {
		if a != b {
			out = append(out, fmt.Sprintf("profile %s: %s %s → %s", old.Name, what, clean(a), clean(b)))
		}
	}
	// The label of a default-index build is known only from its wheel.
	if now.Torch != "" && version.ComparePublic(old.Torch, now.Torch) != 0 { // "": of a channel, whose day the lock pins
		change("torch", old.Torch, now.Torch)
	}
	change("build", old.Build, now.Build)
	change("Python", old.Python, now.Python)
	change("driver", old.Match.Driver, now.Match.Driver)
	change("compute capabilities", strings.Join(old.Match.SMs, " "), strings.Join(now.Match.SMs, " "))
	return out
}
