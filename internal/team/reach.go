package team

import (
	"cmp"
	"context"
	"slices"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/reach"
	"envfix/internal/version"
)

// reachable refuses to begin where an index that the profiles name takes no
// connections: uv would try each for minutes. Those that a project ties its own
// packages to are left out: a mark of what is away stays as it was.
func (m *making) reachable(ctx context.Context) error {
	if m.ask.Offline {
		return nil
	}
	type asked struct{ target, url string }
	var all []asked
	for _, d := range m.drafts {
		for _, i := range d.profile.Indexes {
			url := m.ask.Mirrors.There(i.URL)
			if !slices.ContainsFunc(all, func(a asked) bool { return a.url == url }) {
				all = append(all, asked{d.profile.Name, url})
			}
		}
	}
	if own := cmp.Or(DefaultIndex(m.ask.Mirrors), m.in.DefaultIndex); len(m.drafts) > 0 && (own != "" || len(all) == 0) {
		all = slices.Insert(all, 0, asked{m.drafts[0].profile.Name, own}) // without it none of the others helps
	}
	return InParallel(len(all), atATime, func(i int) error {
		e := (*reach.Error)(nil)
		if all[i].url == "" {
			e = reach.DefaultIndex(ctx)
		} else {
			e = reach.Index(ctx, all[i].url)
		}
		if e == nil {
			return nil
		}
		return inTarget(all[i].target, &fail.Error{Code: fail.Failed, Text: clean(e.Text), Hints: []string{clean(e.Hint)}, Err: e})
	})
}

// Chosen names the torch and build that each target of a wish would get, by the data
// alone: no index is asked and nothing is written.
func (t *Team) Chosen(ask Wish, old *lock.Lock) ([]string, error) {
	_, in, err := t.asked(&ask, old)
	if err != nil {
		return nil, err
	}
	drafts, err := t.drafts(in, basis{})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, d := range drafts {
		public, _ := version.SplitLocal(d.profile.Torch)
		out = append(out, d.profile.Name+": torch "+public+", build "+d.profile.Build)
	}
	return out, nil
}
