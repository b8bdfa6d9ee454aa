package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/reach"
	"envfix/internal/team"
	"envfix/internal/text"
	"envfix/internal/ui"
)

// wayOut adds to the error of an index that cannot be reached what would work here:
// the default index, where a plan that uses it alone has an answer.
func (f applyFlags) wayOut(ctx context.Context, err error) error {
	if f.made.wish.OnlyIndex != "" {
		return err
	}
	return besideIndex(err, func() string {
		other := f.made
		other.wish.OnlyIndex = "default"
		p, err := other.make(ctx)
		if err != nil || refusal(p) != nil {
			return ""
		}
		return fmt.Sprintf("torch %s, build %s, from the default index", p.Torch, p.Build)
	})
}

// wayOut does the same for a lock, where every target has an answer there.
func (f lockCall) wayOut(t *team.Team, old *lock.Lock, err error) error {
	return besideIndex(err, func() string {
		other := f.wish
		other.Defaults = maps.Clone(f.wish.Defaults)
		other.Defaults["index"] = "default"
		chosen, err := t.Chosen(other, old)
		if err != nil || f.wish.Defaults["index"] != "" {
			return ""
		}
		return "all from the default index (" + strings.Join(chosen, "; ") + ")"
	})
}

// besideIndex is an error with the ways past an index that cannot be reached: what the
// default index gives instead ("" nothing), and a mirror.
func besideIndex(err error, instead func() string) error {
	var away *reach.Error
	var said *fail.Error
	if !errors.As(err, &away) || !errors.As(err, &said) {
		return err
	}
	with := *said
	with.Hints = slices.Concat([]string{fmt.Sprintf("`--mirror %s=URL` fetches from a mirror of it", ui.Clean(away.Index))}, said.Hints)
	if what := instead(); what != "" {
		with.Hints = slices.Insert(with.Hints, 0, fmt.Sprintf("`%s` takes %s", again("--only-index", "default"), ui.Clean(what)))
	}
	return &with
}

// again is this very call with more flags, to be pasted into a shell.
func again(flags ...string) string {
	return ui.Clean(text.Command(slices.Concat([]string{"envfix"}, os.Args[1:], flags)...))
}
