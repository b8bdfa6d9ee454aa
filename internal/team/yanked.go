package team

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"envfix/internal/xslices"

	"envfix/internal/fail"
	"envfix/internal/lazy"
	"envfix/internal/lock"
)

// yankedRelease is what uv says of a release that its index has withdrawn.
var yankedRelease = lazy.Regexp("^`[^`]+` is yanked")

// yanked asks the indexes whether releases of the lock were withdrawn (PEP 592), and
// says which, or in one line that it could not ask. It brings no uv for that: uv knows
// the indexes and their passwords, and without it nothing is asked.
func (t *Team) yanked(ctx context.Context, ask Wish, l *lock.Lock) []string {
	quiet := ask
	quiet.Offline = true // findUV brings none
	u, err := t.uv(ctx, quiet, l.Input)
	if err != nil {
		return []string{"whether releases were yanked was not asked: uv, which asks the indexes, is not here"}
	}
	u.offline, u.upgrade, u.alone = false, false, true
	said := make([][]string, len(l.Profiles))
	var away atomic.Bool
	err = InParallel(len(l.Profiles), atATime, func(i int) (err error) {
		if !away.Load() { // once is enough to wait for an index that does not answer
			said[i], err = t.yankedOf(ctx, u, &l.Profiles[i], l.Input)
			away.CompareAndSwap(false, err != nil)
		}
		return err
	})
	if err != nil {
		return []string{"whether releases were yanked could not be asked: " + clean(whyNot(err))}
	}
	return xslices.Once(said...)
}

// yankedOf asks for one profile: uv resolves exactly what is locked, each package
// alone, and warns.
func (t *Team) yankedOf(ctx context.Context, u uvTool, p *lock.Profile, in lock.Input) ([]string, error) {
	k, err := t.Packages(p)
	if err != nil {
		return nil, nil // what is wrong with it is said as a reason of its own
	}
	j := lock.Job{Python: strings.TrimSuffix(p.Python, "t"), Build: in.Build}
	if j.Platform, err = lock.UVPlatform(p.Match); err != nil {
		return nil, err
	}
	j.Names = indexNames(in)
	for _, q := range k.Packages {
		if len(q.Wheels) == 0 && q.Sdist == nil {
			continue // no index has it
		}
		j.Requirements = append(j.Requirements, q.Name+"=="+q.Version)
		if q.Index != "" {
			j.Indexes = append(j.Indexes, lock.Index{Package: q.Name, URL: q.Index})
		}
	}
	_, notes, err := u.compile(ctx, j, "")
	return slices.DeleteFunc(notes, func(s string) bool { return !yankedRelease().MatchString(s) }), err
}

// whyNot is what uv said last.
func whyNot(err error) string {
	if f, ok := errors.AsType[*fail.Error](err); ok && len(f.Details) > 0 {
		return strings.Join(strings.Fields(strings.Join(f.Details, " ")), " ")
	}
	return err.Error()
}
