package team

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/pep508"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

func named(list []string, name string) (string, bool) {
	return xslices.Find(list, func(text string) bool { return pep508.AsksFor(text, name) })
}

// packages adds what a call asks for to the list of requirements, and takes out what it drops.
func (w *wishes) packages(e *pyproject.Edit, t *Team, ask Wish) error {
	asked := ask.Requirements
	if ask.Upgrade {
		asked = nil // then they are names
	}
	for i, asks := range slices.Concat(asked, ask.Drop) {
		q, err := describe.Requirement(asks)
		if err != nil {
			return err
		}
		key, have, err := w.list(e)
		if err != nil {
			return err
		}
		was, there := named(have, q.Name)
		now := []string{asks}
		if now[0], err = t.besideLock(q, t.Dir); err != nil && i < len(asked) {
			return fail.Wrap(fail.Usage, err)
		}
		switch {
		case i >= len(asked) && !there:
			return w.notAsked(t, q.Name, have)
		case i >= len(asked):
			now = nil
			w.note("%s: %s is asked for no more", w.file, was)
		case !there:
			w.note("%s: added %s", w.file, now[0])
		case was == now[0]:
			continue
		default:
			w.note("%s: %s instead of %s", w.file, now[0], was)
		}
		if err := swap(e, key, was, now); err != nil {
			return err
		}
		if !w.project {
			w.Requirements = append(slices.DeleteFunc(slices.Clone(w.Requirements), func(s string) bool { return s == was }), now...)
		}
	}
	return nil
}

// swap takes one item out of the list at key, "" none, and puts others there.
func swap(e *pyproject.Edit, key, was string, now []string) error {
	if was != "" {
		if err := e.Drop(key, was); err != nil {
			return err
		}
	}
	return errors.Join(text.Each(now, func(item string) error { return e.Add(key, item) })...)
}

// notAsked says who else asks for a package that is not in the list, or nobody.
func (w *wishes) notAsked(t *Team, name string, have []string) error {
	for _, f := range w.Files {
		p, err := t.Project(t.at(f))
		if err != nil {
			continue
		}
		for _, q := range p.Requirements {
			if q.Name == name {
				return fail.Wrong(fmt.Sprintf("%s is asked for by %s, not by %s", name, f, w.file), "take it out there, then `envfix lock`")
			}
		}
	}
	hint := say.Either(len(have) > 0, "it asks for "+strings.Join(have, ", "), "it asks for nothing")
	return fail.Wrong(w.file+" does not ask for "+clean(name), hint, "`envfix sync` removes what is installed and not locked")
}
