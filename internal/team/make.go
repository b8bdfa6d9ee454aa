package team

import (
	"context"
	"slices"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/version"
)

// Lock makes the lock of what is wished for, and writes it with its pylock files.
// old is the present lock, nil where there is none.
func (t *Team) Lock(ctx context.Context, w Wish, old *lock.Lock) (*lock.Lock, error) {
	in, err := t.input(w, old)
	if err != nil {
		return nil, err
	}
	hold := t.held(w, old)
	drafts, err := t.drafts(in, hold)
	if err != nil {
		return nil, err
	}
	u, err := t.uv(w)
	if err != nil {
		return nil, err
	}
	drafts, kept, err := onlyProfile(w.Profile, drafts, old, in)
	if err != nil {
		return nil, err
	}
	files, err := t.compileAll(ctx, u, drafts)
	if err != nil {
		return nil, err
	}
	l := &lock.Lock{Schema: lock.Schema, RequiresEnvfix: ">=" + Release(t.Build),
		Matrix: lock.Matrix{Version: t.Matrix.Version, SHA256: t.Matrix.SHA256}, Input: in}
	if hold != nil {
		l.Matrix = old.Matrix
	}
	for _, d := range drafts {
		l.Profiles = append(l.Profiles, d.profile)
	}
	l.Profiles = append(l.Profiles, kept...)
	return l, t.Write(l, files)
}

// onlyProfile leaves the named profile's draft and returns the other profiles as
// they are in the present lock, which must have been made from the same input.
func onlyProfile(name string, drafts []draft, old *lock.Lock, in lock.Input) ([]draft, []lock.Profile, error) {
	if name == "" {
		return drafts, nil, nil
	}
	if old == nil {
		return nil, nil, usage("`--profile` makes one profile of a lock anew, and there is no " + lock.File + " here")
	}
	if _, err := old.Profile(name); err != nil {
		return nil, nil, failed(fail.Usage, err)
	}
	if changes := inputChanges(old.Input, in); len(changes) > 0 {
		return nil, nil, &fail.Error{Code: fail.Usage, Text: "the other profiles would no longer fit what is asked for", Details: changes,
			Hints: []string{"drop `--profile`: then all are made anew"}}
	}
	drafts = slices.DeleteFunc(drafts, func(d draft) bool { return d.profile.Name != name })
	kept := slices.DeleteFunc(slices.Clone(old.Profiles), func(p lock.Profile) bool { return p.Name == name })
	return drafts, kept, nil
}

// held returns the lock whose choices stay: with another matrix than the lock was
// made from, torch changes only with --upgrade-matrix.
func (t *Team) held(w Wish, old *lock.Lock) *lock.Lock {
	if old == nil || w.UpgradeMatrix || old.Matrix.SHA256 == t.Matrix.SHA256 {
		return nil
	}
	return old
}

// drafts chooses a build for each target of the input. Profiles of hold keep their
// torch and build.
func (t *Team) drafts(in lock.Input, hold *lock.Lock) ([]draft, error) {
	var targets []target
	for _, k := range in.Targets {
		parsed, err := t.target(k.Name, k.Facts)
		if err != nil {
			return nil, err
		}
		if hold != nil {
			if p, err := hold.Profile(k.Name); err == nil {
				public, _ := version.SplitLocal(p.Torch)
				parsed.pin, parsed.request.Build = "=="+public, p.Build
			}
		}
		targets = append(targets, parsed)
	}
	wish, err := requirements(in)
	if err != nil {
		return nil, err
	}
	drafts, err := choose(t.Matrix, targets, wish, in.SameTorch)
	if err != nil {
		return nil, err
	}
	return drafts, distinct(drafts)
}
