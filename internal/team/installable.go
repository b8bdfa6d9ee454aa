package team

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/text"
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
	hints := u.waysOut(ctx, j, s)
	if len(hints) == 0 {
		hints = []string{"ask for another version of what uv names, or leave it out"}
	}
	return &fail.Error{Code: fail.NoSolution, Text: "what was chosen cannot be installed together", Details: f.Details, Err: err, Hints: hints}
}

// waysOut has uv resolve the set again, without the version of one package at a time, with
// an older release of one that was chosen, and with the Pythons next to its own, and says
// with what it can be installed.
func (u uvTool) waysOut(ctx context.Context, j lock.Job, s Set) []string {
	var out []string
	for _, q := range s.Wish {
		if v, chosen := s.Choice.Packages[q.Name]; q.Spec.IsZero() || chosen && v != "" || q.URL != "" || len(out) == maxWays {
			continue
		}
		t := j
		t.Requirements = slices.Clone(j.Requirements)
		for i, r := range t.Requirements {
			if r == q.Text {
				t.Requirements[i] = q.Name
			}
		}
		if v := u.resolved(ctx, t, q.Name); v != "" {
			out = append(out, fmt.Sprintf("%s %s goes with the rest; you asked for %s", q.Name, v, text.Cut(q.Text, 80)))
		}
	}
	for _, q := range s.Wish {
		v := s.Choice.Packages[q.Name]
		if !q.Spec.IsZero() || v == "" || q.URL != "" || q.Name == "torch" || len(out) == maxWays {
			continue
		}
		t := j
		t.Requirements = beforeChosen(j.Requirements, q.Name, v)
		if found := u.resolved(ctx, t, q.Name); found != "" {
			out = append(out, fmt.Sprintf("`%s<%s` in place of %s: %s %s can be installed", q.Name, v, q.Name, q.Name, found))
		}
	}
	for _, python := range besidePython(j.Python) {
		t := j
		t.Python = python
		if len(out) < maxWays && u.resolved(ctx, t, "torch") != "" {
			out = append(out, fmt.Sprintf("`--python %s`: there all of it can be installed", python))
			break
		}
	}
	return out
}

// beforeChosen are requirements for a release of a package before the one that was chosen, which
// may pin another torch: torch and what goes with it are left open.
func beforeChosen(requirements []string, name, chosen string) []string {
	var out []string
	for _, r := range requirements {
		pinned, _, found := strings.Cut(r, "==")
		switch {
		case found && pinned == name:
			r = name + "<" + chosen
		case found && (pinned == "torch" || slices.Contains(resolver.Companions(), pinned)):
			r = pinned
		}
		out = append(out, r)
	}
	return out
}

// maxWays is how many ways out are named: each costs a resolution.
const maxWays = 3

// resolved is the version of a package in uv's answer to a job; "" there is none.
func (u uvTool) resolved(ctx context.Context, j lock.Job, name string) string {
	answer, _, err := u.compile(ctx, j, "")
	if err != nil {
		return ""
	}
	packages, err := lock.ParseUV(answer, j.Indexes)
	if i := slices.IndexFunc(packages, func(p lock.Package) bool { return p.Name == name }); err == nil && i >= 0 {
		return packages[i].Version
	}
	return ""
}

// besidePython are the minor releases next to one: the older first, since old packages
// have wheels for them.
func besidePython(python string) []string {
	n, err := strconv.Atoi(strings.TrimPrefix(python, "3."))
	if err != nil {
		return nil
	}
	return []string{fmt.Sprintf("3.%d", n-1), fmt.Sprintf("3.%d", n-2), fmt.Sprintf("3.%d", n+1)}
}
