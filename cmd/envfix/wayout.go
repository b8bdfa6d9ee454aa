package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"envfix/installers"
	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/plan"
	"envfix/internal/reach"
	"envfix/internal/team"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/internal/version"
)

// wayOut goes on where an index cannot be reached, before anything was changed, and the
// default index alone has a torch that is no older: that plan is shown, and asked about as
// any other. Else the error says which command takes it.
func (f applyFlags) wayOut(ctx context.Context, was *plan.Plan, saved bool, err error) error {
	var away *reach.Error
	if !errors.As(err, &away) || f.made.wish.OnlyIndex != "" || f.resume {
		return err
	}
	if ownDefault(away.Index) != "" || away.Index == "default" { // what it gives instead would come from there, too
		return besideIndex(err, "", "")
	}
	other := f
	other.made.wish.OnlyIndex = "default"
	p, unmade := other.made.make(ctx)
	answers := unmade == nil && refusal(p) == nil
	if answers && !saved && (f.yes || canAsk()) && !olderTorch(p.Torch, was.Installs().Torch) {
		fmt.Fprintf(stderr(), "envfix: %s\nenvfix: so all comes from the default index, by another plan:\n\n", ui.Clean(away.Text))
		return besideIndex(other.oneRound(ctx, p, false), "", "")
	}
	switch {
	case answers:
		return besideIndex(err, fmt.Sprintf("torch %s, build %s, from the default index", p.Torch, p.Build), "")
	case unmade == nil:
		return besideIndex(err, "", besideNearest(p))
	}
	return besideIndex(err, "", "")
}

// besideNearest is the first change under which the default index alone has a torch; "" none.
func besideNearest(p *plan.Plan) string {
	for _, n := range p.Nearest {
		if n.Torch != "" && !strings.Contains(n.Change, "--only-index") {
			return fmt.Sprintf("or `--only-index default`, and %s: then torch %s, build %s", n.Change, n.Torch, n.Build)
		}
	}
	return ""
}

func olderTorch(a, b string) bool {
	v, w := version.Public(a), version.Public(b)
	return w.IsZero() || v.Compare(w) < 0
}

// wayOut does the same for a lock, where every target has an answer there.
func (f lockCall) wayOut(t *team.Team, old *lock.Lock, err error) error {
	other := f.wish
	other.Defaults = maps.Clone(f.wish.Defaults)
	other.Defaults["index"] = "default"
	chosen, unchosen := t.Chosen(other, old)
	switch {
	case f.wish.Defaults["index"] != "":
		return besideIndex(err, "", "")
	case unchosen != nil: // who tries it is sent back here
		return besideIndex(err, "", "`--only-index default` is no way out: "+fail.Of(unchosen).Text)
	}
	return besideIndex(err, "all from the default index ("+strings.Join(chosen, "; ")+")", "")
}

// besideIndex is an error with the ways past an index that cannot be reached: what the
// default index gives instead ("" nothing), another hint, and a mirror.
func besideIndex(err error, takes, besides string) error {
	var away *reach.Error
	var said *fail.Error
	if !errors.As(err, &away) || !errors.As(err, &said) {
		return err
	}
	with := *said
	if name := ownDefault(away.Index); name != "" {
		with.Hints = slices.Concat([]string{name + " names it: set another there, or `--mirror default=URL`"}, said.Hints)
		return &with
	}
	with.Hints = slices.Concat([]string{fmt.Sprintf("`--mirror %s=URL` fetches from a mirror of it", ui.Clean(away.Index))}, said.Hints)
	if takes != "" {
		with.Hints = slices.Insert(with.Hints, 0, fmt.Sprintf("`%s` takes %s", again("--only-index", "default"), ui.Clean(takes)))
	}
	if besides != "" {
		with.Hints = slices.Insert(with.Hints, 1, ui.Clean(besides))
	}
	return &with
}

// ownDefault is the variable, or the flag, by which the user names an address as the default
// index; "" none.
func ownDefault(address string) string {
	i := slices.IndexFunc(installers.DefaultIndexes, func(name string) bool {
		own := os.Getenv(name)
		return own != "" && strings.TrimRight(own, "/") == strings.TrimRight(address, "/")
	})
	switch {
	case i >= 0:
		return installers.DefaultIndexes[i]
	case slices.ContainsFunc(os.Args, func(a string) bool { return strings.HasSuffix(a, "default="+address) }):
		return "`--mirror`"
	}
	return ""
}

// again is this very call with more flags, to be pasted into a shell.
func again(flags ...string) string {
	return ui.Clean(text.Command(slices.Concat([]string{"envfix"}, os.Args[1:], flags)...))
}
