package propose

import (
	"context"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/resolver"
)

// locked answers within what the project's own lock holds: with its torch in its build,
// in any build, and with the rest of it alone where its torch does not run here. nil:
// there is none, or nothing goes with it.
func (l *Loop) locked(ctx context.Context, r resolver.Request) (*Answer, error) {
	if len(l.Locked) == 0 {
		return nil, nil
	}
	parent, own := ctx, l.Limits
	ctx, end := context.WithTimeout(ctx, mostTime/3) // the rest is for an answer without it
	defer end()
	defer func() { l.Limits, l.calls = own, 0 }()
	torch, limits := "", []string(nil)
	for _, q := range l.Locked {
		switch {
		case q.Name == "torch":
			torch = q.Text
		case family(q.Name) || ofBuild(q.Name):
		default:
			l.Limits = append(slices.Clip(l.Limits), q)
			if asksFor(r, q.Name) {
				limits = append(limits, q.Text)
			}
		}
	}
	narrow := r
	narrow.Requirements = slices.Clone(r.Requirements)
	for i, q := range narrow.Requirements {
		if at := slices.IndexFunc(l.Locked, func(k pep508.Requirement) bool { return k.Name == q.Name }); at >= 0 && !family(q.Name) && !ofBuild(q.Name) && q.URL == "" {
			narrow.Requirements[i].Spec = l.Locked[at].Spec
		}
	}
	public, _, labelled := strings.Cut(torch, "+")
	tries := []string{torch, public, ""}
	if !labelled {
		tries = tries[1:]
	}
	for _, try := range slices.Compact(tries) {
		l.calls = 0
		base := &Answer{Limits: slices.Clone(limits)}
		if try != "" {
			base.Limits = append(base.Limits, try)
		}
		a, no, err := l.from(ctx, base, narrow)
		switch {
		case parent.Err() != nil:
			return nil, err
		case err != nil || no != nil: // of the build of torch uv knows nothing
			return nil, nil
		case len(a.Versions) == 0:
			continue
		case try == "" && torch != "":
			a.say("%s has %s, and no build of it runs here: its other versions are kept", l.Locked[0].From, public)
		}
		return a, nil
	}
	return nil, nil
}
