package team

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lock"
)

// Staleness says in what the lock is not what [Team.Lock] would choose today, as far
// as that can be told without a network: the input, the matrix, each profile's
// choice, and the bytes of each pylock file.
func (t *Team) Staleness(w Wish, old *lock.Lock) ([]string, error) {
	in, err := t.input(w, old)
	if err != nil {
		return nil, err
	}
	stale := inputChanges(old.Input, in)
	if old.Matrix.SHA256 != t.Matrix.SHA256 {
		stale = append(stale, fmt.Sprintf("matrix: made from %s, this envfix has %s", clean(old.Matrix.Version), t.Matrix.Version))
	}
	for _, p := range old.Profiles {
		b, err := ReadFile(t.path(p.Pylock.File))
		switch {
		case errors.Is(err, os.ErrNotExist):
			stale = append(stale, "profile "+p.Name+": "+p.Pylock.File+" is missing")
		case err != nil:
			return nil, &fail.Error{Code: fail.Usage, Text: clean(err.Error()), Err: err}
		case lock.Sum(b) != p.Pylock.SHA256:
			stale = append(stale, "profile "+p.Name+": "+p.Pylock.File+" is not the file that the lock pins")
		}
	}
	if len(stale) > 0 && !slices.Equal(old.Input.Targets, in.Targets) {
		return stale, nil // other targets: there is nothing to compare choices with
	}
	drafts, err := t.drafts(in, nil)
	if err != nil {
		return append(stale, "profiles: "+err.Error()), nil
	}
	for _, d := range drafts {
		if p, err := old.Profile(d.profile.Name); err == nil {
			stale = append(stale, profileChanges(*p, d.profile)...)
		}
	}
	return stale, nil
}

// inputChanges names what was asked for then and is not asked for now.
func inputChanges(old, now lock.Input) []string {
	var out []string
	lines := func(in lock.Input) []string {
		var l []string
		for _, r := range in.Requirements {
			l = append(l, "requirement "+r)
		}
		for _, s := range in.Sources {
			for _, r := range s.Requirements {
				l = append(l, s.Path+": requirement "+r)
			}
		}
		for _, t := range in.Targets {
			l = append(l, "target "+t.Name+": "+t.Facts)
		}
		if in.SameTorch {
			l = append(l, "same-torch")
		}
		return l
	}
	was, is := lines(old), lines(now)
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

func profileChanges(old, now lock.Profile) []string {
	var out []string
	change := func(what, a, b string) {
		if a != b {
			out = append(out, fmt.Sprintf("profile %s: %s %s → %s", old.Name, what, clean(a), clean(b)))
		}
	}
	// The label of a default-index build is known only from its wheel.
	if comparePublic(old.Torch, now.Torch) != 0 {
		change("torch", old.Torch, now.Torch)
	}
	change("build", old.Build, now.Build)
	change("Python", old.Python, now.Python)
	change("driver", old.Match.Driver, now.Match.Driver)
	change("compute capabilities", strings.Join(old.Match.SMs, " "), strings.Join(now.Match.SMs, " "))
	return out
}
