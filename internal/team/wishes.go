package team

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/text"
)

// A Wish is what one call of `envfix lock` asks for, beside what the team's file says
// already.
type Wish struct {
	Requirements []string // PEP 508: added
	Files        []string // requirements files and pyproject.toml: added
	Targets      []lock.Target
	Defaults     map[string]string // facts of every target that does not say otherwise
	SameTorch    bool
	Build        []string // packages that may be built from source
	AsNamed      []string // packages that are meant as they are written
	Groups       []string // groups and extras of pyproject.toml that can be chosen at apply

	Drop        []string // packages that are asked for no more
	DropTargets []string

	Upgrade       bool     // take the newest versions …
	Only          []string // … of these packages; empty: of all
	UpgradeMatrix bool     // choose torch again with this envfix's data
	Profile       string   // make only this one anew; "" all
	Offline       bool
	Mirrors       plan.Mirrors
}

// wishes are what a team asks for, and the file that says so.
type wishes struct {
	lock.Team
	file    string   // envfix.toml or pyproject.toml
	text    []byte   // what it holds; nil: there is none yet
	table   []string // of it that envfix's keys stand in
	project bool     // its own dependencies are wished for as well
	edits   []string // what was changed, in words

	unfollowed []string // what files say that a lock neither follows nor is wrong without
}

// wishes reads envfix.toml, or the [tool.envfix] of pyproject.toml. Where neither is
// there, the present lock says what it was made from.
func (t *Team) wishes(old *lock.Lock) (*wishes, error) {
	w := &wishes{file: lock.TeamFile}
	b, err := ReadFile(t.path(lock.TeamFile))
	switch {
	case err == nil:
		w.text = b
		w.Team, err = lock.DecodeTeam(b)
		if err != nil {
			return w, fail.Wrap(fail.Usage, err, "its keys are "+strings.Join(lock.TeamKeys, ", "))
		}
		return w, nil
	case !errors.Is(err, os.ErrNotExist):
		return w, fail.Wrap(fail.Usage, err)
	}
	if b, err := ReadFile(t.path("pyproject.toml")); err == nil {
		team, ok, err := lock.DecodeProject(b)
		if err != nil {
			return w, fail.Wrap(fail.Usage, err, "its keys are "+strings.Join(lock.TeamKeys, ", "))
		}
		if ok {
			return &wishes{Team: team, file: "pyproject.toml", text: b, table: []string{"tool", "envfix"}, project: slices.Contains(team.Files, "pyproject.toml")}, nil
		}
	}
	if old == nil {
		return w, nil
	}
	in := old.Input
	w.Team = lock.Team{Requirements: in.Requirements, SameTorch: in.SameTorch, Targets: map[string]string{}, Constraints: in.Constraints,
		Build: in.Build, AsNamed: in.AsNamed, Defaults: in.Defaults, Indexes: in.Indexes, Policy: in.Policy}
	w.Groups = text.Each(in.Groups, func(g lock.Group) string { return g.Name })
	w.Files = text.Each(in.Sources, func(s lock.Source) string { return s.Path })
	for _, k := range in.Targets {
		w.Targets[k.Name] = k.Facts
	}
	return w, nil
}

// apply adds what a call asks for to the wishes, and takes out what it drops. Each
// change is made in the file's text as well; nothing is written.
func (w *wishes) apply(t *Team, ask Wish) error {
	if !ask.edits() {
		return nil
	}
	e := &pyproject.Edit{Text: w.text, Name: w.file, Table: w.table}
	if w.text == nil {
		if err := w.write(e); err != nil {
			return err
		}
	}
	for _, step := range []func(*pyproject.Edit, *Team, Wish) error{w.packages, w.lists, w.targets, w.rest} {
		e.Table = w.table
		if err := step(e, t, ask); err != nil {
			if _, ok := errors.AsType[*fail.Error](err); ok {
				return err
			}
			return fail.Wrap(fail.Usage, err)
		}
	}
	w.text = e.Text
	return nil
}

func (ask Wish) edits() bool {
	added := len(ask.Requirements) + len(ask.Files) + len(ask.Targets) + len(ask.Defaults) + len(ask.Build) + len(ask.AsNamed) + len(ask.Groups)
	return added+len(ask.Drop)+len(ask.DropTargets) > 0 || ask.SameTorch
}

// write writes the wishes that stand in no file yet.
func (w *wishes) write(e *pyproject.Edit) error {
	var errs []error
	lists := map[string][]string{"requirements": w.Requirements, "files": w.Files, "constraints": w.Constraints,
		"build": w.Build, "as-named": w.AsNamed, "groups": w.Groups}
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		errs = append(errs, text.Each(lists[key], func(v string) error { return e.Add(key, v) })...)
	}
	if w.SameTorch {
		errs = append(errs, e.SetTrue("same-torch"))
	}
	if w.Defaults != "" {
		errs = append(errs, e.Set("defaults", w.Defaults))
	}
	e.Table = append(slices.Clone(w.table), "targets")
	errs = append(errs, text.Each(slices.Sorted(maps.Keys(w.Targets)), func(name string) error { return e.Set(name, w.Targets[name]) })...)
	if len(w.Indexes) > 0 || w.Policy != nil {
		return errors.New("write the wishes of " + lock.File + " into " + w.file + " first: its indexes and its policy are not written by a command")
	}
	return errors.Join(errs...)
}

// list is the list of requirements that commands edit: the project's own
// dependencies where those are followed, else envfix's.
func (w *wishes) list(e *pyproject.Edit) (key string, have []string, err error) {
	if !w.project {
		return "requirements", w.Requirements, nil
	}
	e.Table = []string{"project"}
	have, err = pyproject.Dependencies(e.Text)
	return "dependencies", have, err
}

// lists adds what a call adds to the lists that no command takes from.
func (w *wishes) lists(e *pyproject.Edit, t *Team, ask Wish) error {
	same := func(s string) string { return s }
	for _, l := range []struct {
		key, said string
		have      *[]string
		add       []string
		form      func(string) string
	}{
		{"files", "added %s", &w.Files, ask.Files, t.relative},
		{"build", "%s may be built from source", &w.Build, ask.Build, same},
		{"as-named", "%s is meant as it is written", &w.AsNamed, ask.AsNamed, machine.NormalName},
		{"groups", "group %s can be chosen", &w.Groups, ask.Groups, same},
	} {
		for _, name := range l.add {
			if name = l.form(name); slices.Contains(*l.have, name) {
				continue
			}
			if err := e.Add(l.key, name); err != nil {
				return err
			}
			*l.have = append(slices.Clone(*l.have), name)
			w.note("%s: "+l.said, w.file, name)
		}
	}
	return nil
}

func (w *wishes) targets(e *pyproject.Edit, _ *Team, ask Wish) error {
	e.Table = append(slices.Clone(w.table), "targets")
	w.Targets = maps.Clone(w.Targets)
	if w.Targets == nil {
		w.Targets = map[string]string{}
	}
	for _, k := range ask.Targets {
		facts, err := ParseFacts(k.Facts)
		if err != nil || !lock.ValidName(k.Name) {
			w.Targets[k.Name] = k.Facts // what is wrong is said where targets are parsed
			continue
		}
		text := JoinFacts(facts)
		was, there := w.Targets[k.Name]
		if there && was == text {
			continue
		}
		if err := e.Set(k.Name, text); err != nil {
			return err
		}
		w.Targets[k.Name] = text
		if there {
			w.note("%s: target %s is %s, was %s", w.file, k.Name, text, was)
		} else {
			w.note("%s: added target %s", w.file, k.Name)
		}
	}
	for _, name := range ask.DropTargets {
		if _, there := w.Targets[name]; !there {
			return fail.Wrong("there is no target "+clean(name), "targets are "+strings.Join(slices.Sorted(maps.Keys(w.Targets)), ", "))
		}
		if err := e.Remove(name); err != nil {
			return err
		}
		delete(w.Targets, name)
		w.note("%s: target %s is gone", w.file, name)
	}
	return nil
}

func (w *wishes) rest(e *pyproject.Edit, _ *Team, ask Wish) error {
	if ask.SameTorch && !w.SameTorch {
		if err := e.SetTrue("same-torch"); err != nil {
			return err
		}
		w.SameTorch = true
		w.note("%s: one torch for every target", w.file)
	}
	if len(ask.Defaults) == 0 {
		return nil
	}
	facts, err := ParseFacts(w.Defaults)
	if err != nil {
		return err
	}
	maps.Copy(facts, ask.Defaults)
	if text := JoinFacts(facts); text != w.Defaults {
		w.Defaults = text
		w.note("%s: every target has %s unless it says otherwise", w.file, text)
		return e.Set("defaults", text)
	}
	return nil
}

func (w *wishes) note(format string, args ...any) {
	w.edits = append(w.edits, fmt.Sprintf(format, args...))
}

// relative is a path as the lock stores it: from the team's folder, with slashes. A
// group behind it, as in pyproject.toml[dev], stays.
func (t *Team) relative(path string) string {
	base, group, grouped := strings.Cut(path, "[")
	if filepath.IsAbs(base) {
		if way, _, err := t.fromLock(base); err == nil {
			base = way
		}
	}
	return filepath.ToSlash(filepath.Clean(base)) + say.If(grouped, "["+group)
}

// at is where a path of the wishes leads.
func (t *Team) at(path string) string {
	return say.Either(filepath.IsAbs(path), path, t.path(filepath.FromSlash(path)))
}
