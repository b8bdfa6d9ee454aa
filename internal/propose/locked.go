package propose

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// locked answers within what the project's own lock holds: with its torch in its build,
// in any build, and with the rest of it alone where its torch does not run here. nil:
// there is none, or nothing goes with it.
func (l *Loop) locked(ctx context.Context, r resolver.Request) (*Answer, error) {
	if len(l.Locked) == 0 {
		return nil, nil
	}
	own, rest := l.Limits, l.left/3 // for an answer without it
	l.left -= rest
	defer func() { l.Limits, l.calls, l.left = own, 0, l.left+rest }()
	others := xslices.Filter(l.Locked, func(q pep508.Requirement) bool { return !family(q.Name) && !ofBuild(q.Name) })
	l.Limits = slices.Concat(l.Limits, others)
	asked := xslices.Filter(others, func(q pep508.Requirement) bool { return pep508.Asks(r.Requirements, q.Name) })
	narrow := r
	narrow.Requirements = slices.Clone(r.Requirements)
	for i, q := range narrow.Requirements {
		if k, ok := xslices.Find(others, func(k pep508.Requirement) bool { return k.Name == q.Name }); ok && q.URL == "" {
			narrow.Requirements[i].Spec = k.Spec
		}
	}
	held := l.lockedTorch()
	for _, try := range append(held, "") {
		l.calls = 0
		base := &Answer{Limits: append(text.Each(asked, func(q pep508.Requirement) string { return q.Text }), say.All(try)...)}
		a, no, err := l.from(ctx, base, narrow)
		switch {
		case ctx.Err() != nil:
			return nil, err
		case err != nil || no != nil: // of the build of torch uv knows nothing
			l.late = errors.Is(err, errLate)
			return nil, nil
		case len(a.Versions) == 0, len(held) == 0 && slices.ContainsFunc(a.Plain, l.Framework): // what is there for the GPU would not use it
			continue
		case try == "" && len(held) > 0:
			a.say("%s has %s, and no build of it runs here: its other versions are kept", l.Locked[0].From, held[len(held)-1])
		}
		return a, nil
	}
	return nil, nil
}

// lockedTorch is the torch of the project's own lock, in its build and then in any; where that
// has none, a companion that goes with one alone.
func (l *Loop) lockedTorch() []string {
	torch := func(q pep508.Requirement) bool { return q.Name == "torch" }
	of := cmp.Or(xslices.At(l.Locked, torch), xslices.At(l.Locked, func(q pep508.Requirement) bool { return family(q.Name) }))
	if of == nil {
		return nil
	}
	public, _, _ := strings.Cut(of.Text, "+")
	return slices.Compact([]string{of.Text, public})
}
