package team

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/text"
)

// groups reads the groups and extras that can be chosen where the lock is installed.
// They stand in the pyproject.toml that the wishes name, else in the one beside them.
func (t *Team) groups(w *wishes) ([]lock.Group, error) {
	if len(w.Groups) == 0 {
		return nil, nil
	}
	file := "pyproject.toml"
	if i := slices.IndexFunc(w.Files, func(f string) bool { return strings.HasSuffix(f, ".toml") }); i >= 0 {
		file = w.Files[i]
	}
	base, err := t.project(w, file)
	if err != nil {
		return nil, err
	}
	var out []lock.Group
	for _, name := range w.Groups {
		p, err := t.project(w, file, name)
		if err != nil {
			return nil, fail.Wrap(fail.Usage, err, "its groups and extras are "+strings.Join(base.Groups, ", "))
		}
		if len(p.Places) > len(base.Places) {
			return nil, fail.Wrong(fmt.Sprintf("group %s asks for a folder, an address or a repository", clean(name)),
				"a group that is chosen at apply holds packages of an index; ask for this one under dependencies")
		}
		g := lock.Group{Name: machine.NormalName(name), Extra: slices.Contains(base.Extras, machine.NormalName(name))}
		g.Requirements = text.Each(p.Requirements[len(base.Requirements):], func(q pep508.Requirement) string { return q.Text })
		slices.Sort(g.Requirements)
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b lock.Group) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(out, func(a, b lock.Group) bool { return a.Name == b.Name }), nil
}

// project reads a file of the wishes as the call will leave it.
func (t *Team) project(w *wishes, file string, groups ...string) (*pyproject.Project, error) {
	if file == w.file && len(w.edits) > 0 { // the edit is written with the lock
		return pyproject.Read(w.text, t.at(file), ReadFile, groups...)
	}
	path := t.at(file) + say.If(len(groups) > 0, "["+strings.Join(groups, ",")+"]")
	return t.Project(path)
}

// always are the requirements of a job that are installed whatever group is chosen: all
// but those that only groups ask for.
func always(requirements []string, wish []pep508.Requirement, groups []lock.Group) []string {
	asked := map[string]bool{"torch": true}
	for _, q := range wish {
		asked[q.Name], asked[q.Text] = true, true
	}
	return slices.DeleteFunc(slices.Clone(requirements), func(text string) bool {
		for _, g := range groups {
			if slices.Contains(g.Requirements, text) {
				return !asked[text]
			}
			if _, chosen := named(g.Requirements, nameOf(text)); chosen && !asked[nameOf(text)] {
				return true // the resolver has said which version
			}
		}
		return false
	})
}

func nameOf(text string) string {
	q, _ := pep508.Parse(text, "")
	return q.Name
}

// mark finds out which of the packages are of groups alone: the same job without groups,
// and with each of them, held to the versions that all together have.
func (t *Team) mark(ctx context.Context, u uvTool, j lock.Job, all *lock.Packages) error {
	if len(j.Groups) == 0 {
		return nil
	}
	for _, k := range all.Packages {
		if len(k.Wheels) > 0 || k.Sdist != nil {
			j.Constraints = append(slices.Clone(j.Constraints), k.Name+"=="+k.Version)
		}
	}
	u.upgrade = false
	needs := func(requirements []string) ([]string, error) {
		j.Requirements = requirements
		some, err := u.packages(ctx, j)
		return text.Each(some, func(k lock.Package) string { return k.Name }), err
	}
	requirements := j.Requirements
	base, err := needs(j.Always)
	if err != nil {
		return err
	}
	var each [][]string
	for _, g := range j.Groups {
		with := slices.Clone(j.Always)
		for _, text := range requirements {
			_, of := named(g.Requirements, nameOf(text))
			if of && !slices.Contains(with, text) {
				with = append(with, text)
			}
		}
		names, err := needs(with)
		if err != nil {
			return err
		}
		each = append(each, names)
	}
	all.Mark(j.Groups, base, each)
	return nil
}
