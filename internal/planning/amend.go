package planning

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// ofTorch reports whether a package is torch, or one that is released to go with it.
func ofTorch(name string) bool {
	return name == "torch" || slices.Contains(resolver.Companions(), name)
}

// Amend plans the environment in use with packages more or fewer. What is there was chosen
// before and is not chosen again: torch's family stays, and what is asked for goes on.
func (q Question) Amend(w Ports, asked []pep508.Requirement, remove bool) (*plan.Plan, error) {
	facts, held := q.Machine, map[string]string{}
	for _, d := range q.Target.Held.Dists {
		held[d.Name] = d.Version
	}
	lost, ok := xslices.Find(pep508.Read(q.Target.Adds, ""), func(a pep508.Requirement) bool { return a.Name == "torch" })
	if ok { // its files came to grief, and come again
		held["torch"] = strings.TrimPrefix(lost.Spec.String(), "==") + say.With("+", lost.Label, "")
	}
	public, label := version.SplitLocal(held["torch"])
	if public == "" {
		return nil, fail.New(fail.Failed, q.Target.Dir+" has no torch to hold", "`envfix apply` with all that it is to hold makes another")
	}
	wish := q.Wish
	if len(asked) > 0 { // a copy, which names at least torch
		was := *cmp.Or(wish, &plan.Wish{})
		was.Packages = say.Either(len(was.Packages) > 0, was.Packages, []string{"torch"})
		wish = &was
	}
	for _, a := range asked {
		wish.Packages = slices.DeleteFunc(slices.Clone(wish.Packages), func(line string) bool {
			was, err := pep508.Parse(line, "")
			return err == nil && was.Name == a.Name
		})
		switch {
		case ofTorch(a.Name):
			return nil, fail.Wrong("torch and what is released with it are held: "+a.Name, "`"+text.Command("envfix", "apply", a.Line())+"` chooses anew")
		case !remove:
			q.Target.Adds, wish.Packages = append(q.Target.Adds, a.Line()), append(wish.Packages, a.Line())
		case held[a.Name] == "":
			return nil, fail.Wrong(a.Name+" is not in "+q.Target.Dir, "`envfix facts -v` lists what is")
		default:
			q.Target.Removes = append(q.Target.Removes, a.Name)
		}
	}
	choice := &resolver.Choice{Torch: public, Build: label, Packages: maps.Clone(held)}
	maps.DeleteFunc(choice.Packages, func(name, _ string) bool { return !ofTorch(name) })
	if t, ok := xslices.Find(facts.Installed, func(p machine.Package) bool { return p.Name == "torch" && p.CUDA != nil }); ok {
		choice.CUDA = *t.CUDA
	}
	q.Machine = w.Tools(q.Machine)
	here, _ := xslices.Find(q.Machine.Pythons, func(p machine.Python) bool { return p.Active && p.Source == "venv" })
	choice.Python = cmp.Or(q.Target.Framed(), version.Minor(here.Version))
	if err := stillNeeded(pep508.EnvironmentOf(facts.Platform.OS, facts.Platform.Arch, choice.Python), q.Target); err != nil {
		return nil, err
	}
	p, err := q.Steps(&resolver.Resolution{Decision: resolver.Install, Choice: choice})
	if err != nil {
		return nil, err
	}
	p.Wish, p.Basis.Envfix, p.Basis.Facts = wish, q.Envfix, facts
	return p, plan.Seal(p)
}

// stillNeeded refuses to remove what a package that stays requires: the check at the end
// would refuse the whole environment.
func stillNeeded(env pep508.Environment, t plan.Target) error {
	for _, d := range t.Held.Dists {
		if slices.Contains(t.Removes, d.Name) {
			continue
		}
		for _, line := range d.Requires {
			need, err := pep508.Parse(line, "")
			if err != nil || !slices.Contains(t.Removes, need.Name) || !env.Surely(need.Marker) {
				continue
			}
			hint := "`envfix remove " + strings.Join(append(slices.Clone(t.Removes), d.Name), " ") + "` removes both"
			if ofTorch(d.Name) {
				hint = "`envfix apply --env OTHER torch` makes an environment of torch and what it needs"
			}
			return fail.Wrong(d.Name+" "+d.Version+" needs "+need.Name, hint)
		}
	}
	return nil
}
