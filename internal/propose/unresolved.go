package propose

import (
	"context"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/team"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"
)

// Unresolved is the answer where uv gave none, and why it did not: the torch of the
// project's own lock where that runs here, and what the index's lists of files say, as
// far as they were read.
func (l *Loop) Unresolved(ctx context.Context, r resolver.Request, why string) *Answer {
	ctx, end := context.WithTimeout(ctx, mostTime/6)
	defer end()
	looked := l.shelf != nil && l.shelf.client != nil && ctx.Err() == nil
	var a *Answer
	for _, torch := range append(l.lockedTorch(), "") {
		a = &Answer{Unasked: why, Limits: say.All(torch)}
		if looked {
			l.leave(ctx, a, r)
		}
		if l.Resolve(a.Judged(r)) != nil {
			break
		}
	}
	switch {
	case len(a.Limits) > 0:
		a.say("%s is followed for torch alone: %s", l.Locked[0].From, why)
	case len(l.Locked) > 0:
		a.say("%s is not followed: %s", l.Locked[0].From, why)
	}
	if !looked {
		return a
	}
	l.bound = l.shelf.bound(ctx, r.Requirements)
	pythons := l.pythons(ctx, a, r)
	if len(pythons) == 0 {
		return a
	}
	a.Python = pythons[0]
	l.build(ctx, a, r, pep508.Names(r.Requirements), nil, true)
	l.tell(ctx, a, r)
	for _, q := range r.Requirements {
		if q.URL == "" && !family(q.Name) && l.admits(q.Marker, a.Python) && l.shelf.fit(ctx, q.Name, q.Spec, a.Python) == matrix.FitNone {
			a.say("the index has no file of %s for Python %s: to install it fails", where(q), a.Python)
		}
	}
	return a
}

// bound are the requirements within bounds of the packages that a request names in one
// version, as the index has their metadata: they may have no wheel for a Python that the
// package itself admits.
func (s *shelf) bound(ctx context.Context, asked []pep508.Requirement) (out []pep508.Requirement) {
	found := make([][]pep508.Requirement, min(len(asked), mostPages))
	_ = team.InParallel(len(found), atOnce, func(i int) error { // what could not be read is not known
		q := asked[i]
		if family(q.Name) || q.URL != "" || !strings.HasPrefix(q.Spec.String(), "==") {
			return nil
		}
		files, _ := s.files(ctx, q.Name, q.Spec)
		if f, ok := xslices.Find(files, func(f offered) bool { return f.wheel }); ok {
			if m, err := s.client.Metadata(ctx, f.File); err == nil {
				found[i] = m.Requires
			}
		}
		return nil
	})
	var names []string
	for _, q := range slices.Concat(found...) {
		if spec := q.Spec.String(); (strings.ContainsAny(spec, "<~") || strings.Contains(spec, "==")) && !strings.Contains(q.Marker, "extra") {
			out, names = append(out, q), append(names, q.Name)
		}
	}
	s.look(ctx, names)
	return out
}
