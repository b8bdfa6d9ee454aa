package doctor

import (
	"slices"
)

// Shared is a report of which every text went through share.
func Shared(r Report, share func(string) string) Report {
	all := func(in []string) []string {
		out := slices.Clone(in)
		for i := range out {
			out[i] = share(out[i])
		}
		return out
	}
	r.Notes = all(r.Notes)
	r.Facts = slices.Clone(r.Facts)
	for i := range r.Facts {
		r.Facts[i].Value, r.Facts[i].Source = share(r.Facts[i].Value), share(r.Facts[i].Source)
	}
	r.Findings = slices.Clone(r.Findings)
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Text, f.Evidence, f.Fix = share(f.Text), all(f.Evidence), all(f.Fix)
	}
	if r.Process != nil {
		p := *r.Process
		p.User, p.Command, p.Env, p.Dir, p.Exe = "", share(p.Command), share(p.Env), share(p.Dir), share(p.Exe)
		p.Group, p.Gone = "", all(p.Gone)
		r.Process = &p
	}
	return r
}
