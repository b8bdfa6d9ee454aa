package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"envfix/internal/apply"
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
	var e *apply.Error
	if !errors.As(err, &e) || e.Index == "" || f.made.wish.OnlyIndex != "" {
		return err
	}
	hints := []string{mirrorHint(e.Index)}
	other := f.made
	other.wish.OnlyIndex = "default"
	if p, err := other.make(ctx); err == nil && refusal(p) == nil {
		hints = slices.Insert(hints, 0, fmt.Sprintf("`%s` takes torch %s, build %s, from the default index", again("--only-index", "default"), p.Torch, p.Build))
	}
	return &fail.Error{Code: applyCodes[e.Kind], Text: ui.Clean(e.Text), Details: e.Details, Hints: append(hints, e.Hints...), Err: e}
}

// wayOut does the same for a lock, where every target has an answer there.
func (f lockCall) wayOut(t *team.Team, old *lock.Lock, err error) error {
	var away *reach.Error
	var said *fail.Error
	if !errors.As(err, &away) || !errors.As(err, &said) {
		return err
	}
	hints := []string{mirrorHint(away.Index)}
	other := f.wish
	other.Defaults = maps.Clone(f.wish.Defaults)
	other.Defaults["index"] = "default"
	if chosen, err := t.Chosen(other, old); err == nil && f.wish.Defaults["index"] == "" {
		hints = slices.Insert(hints, 0, fmt.Sprintf("`%s` takes all from the default index (%s)",
			again("--only-index", "default"), ui.Clean(strings.Join(chosen, "; "))))
	}
	with := *said
	with.Hints = append(hints, said.Hints...)
	return &with
}

func mirrorHint(index string) string {
	return fmt.Sprintf("`--mirror %s=URL` fetches from a mirror of it", ui.Clean(index))
}

// again is this very call with more flags, to be pasted into a shell.
func again(flags ...string) string {
	return ui.Clean(text.Command(slices.Concat([]string{"envfix"}, os.Args[1:], flags)...))
}
