package team

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/pep508"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/xslices"
)

func named(list []string, name string) (string, bool) {
	return xslices.Find(list, func(text string) bool { return pep508.AsksFor(text, name) })
}

func (w *wishes) packages(e *pyproject.Edit, t *Team, ask Wish) error {
	if ask.Upgrade {
		return nil // then they are names
	}
	for _, text := range ask.Requirements {
		q, err := describe.Requirement(text)
		if err != nil {
			return err
		}
		if text, err = t.besideLock(q, t.Dir); err != nil {
			return fail.Wrap(fail.Usage, err)
		}
		key, have, err := w.list(e)
		if err != nil {
			return err
		}
		was, there := named(have, q.Name)
		if there && was == text {
			continue
		}
		if there {
			if err := e.Drop(key, was); err != nil {
				return err
			}
			w.note("%s: %s instead of %s", w.file, text, was)
		} else {
			w.note("%s: added %s", w.file, text)
		}
		if err := e.Add(key, text); err != nil {
			return err
		}
		if !w.project {
			w.Requirements = append(slices.DeleteFunc(slices.Clone(w.Requirements), func(s string) bool { return s == was }), text)
		}
	}
	return nil
}

func (w *wishes) drop(e *pyproject.Edit, t *Team, ask Wish) error {
	for _, text := range ask.Drop {
		q, err := describe.Requirement(text)
		if err != nil {
			return err
		}
		key, have, err := w.list(e)
		if err != nil {
			return err
		}
		was, there := named(have, q.Name)
		if !there {
			return w.notAsked(t, q.Name, have)
		}
		if err := e.Drop(key, was); err != nil {
			return err
		}
		w.note("%s: %s is asked for no more", w.file, was)
		if !w.project {
			w.Requirements = slices.DeleteFunc(slices.Clone(w.Requirements), func(s string) bool { return s == was })
		}
	}
	return nil
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
