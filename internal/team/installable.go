package team

import (
	"context"
	"errors"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/resolver"
)

// A Set is what a plan would install.
type Set struct {
	Choice   *resolver.Choice
	Wish     []pep508.Requirement // what was asked for beside it
	Channel  string
	Platform machine.Platform
	Mirrors  Mirrors
	Offline  bool
}

// ErrUnknown reports that uv could not say whether a set can be installed: an index was
// not reached, or uv has no name for the platform.
var ErrUnknown = errors.New("whether the packages can be installed together is not known")

// Installable has uv resolve a set for its platform, as the steps of a plan would, and
// installs nothing. Its error has uv's own sentence where no solution is; it wraps
// [ErrUnknown] where uv could not say.
func (t *Team) Installable(ctx context.Context, s Set) error {
	match := lock.Match{OS: s.Platform.OS, Arch: s.Platform.Arch}
	if l := s.Platform.Libc; l != nil {
		match.Libc = l.Kind + ">=" + l.Version.String()
	}
	j := jobOf(s.Choice, s.Wish, s.Channel)
	var err error
	if j.Platform, err = lock.UVPlatform(match); err != nil {
		return errors.Join(ErrUnknown, err)
	}
	u, err := t.uv(ctx, Wish{Offline: s.Offline, Mirrors: s.Mirrors}, lock.Input{})
	if err != nil {
		return errors.Join(ErrUnknown, err)
	}
	_, _, err = u.compile(ctx, j, "")
	var f *fail.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &f) || !strings.Contains(strings.Join(f.Details, "\n"), "No solution found"):
		return errors.Join(ErrUnknown, err)
	}
	f.Details = slices.DeleteFunc(slices.Clone(f.Details), func(l string) bool { return strings.HasPrefix(l, "warning: ") })
	return &fail.Error{Code: fail.NoSolution, Text: "what was chosen cannot be installed together", Details: f.Details, Err: err,
		Hints: []string{"ask for another version of what uv names, or leave it out"}}
}
