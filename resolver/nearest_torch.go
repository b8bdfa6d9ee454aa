package resolver

import (
	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/matrix"
)

// note is what a reader has to know of the build that another answer leads to; ""
// nothing.
func (o *outcome) note() string {
	switch {
	case o.Choice == nil && o.Then != nil:
		return "after a change of the driver"
	case o.build == nil || o.q == nil:
		return ""
	}
	switch _, ptx := o.q.ptxOnly(o.build); {
	case ptx && o.q.accel == cuda:
		return "PTX only, nothing native: compiled at first use, and what has no PTX (NCCL) fails"
	case o.q.unproven(o.build):
		return "not proven"
	}
	return ""
}

// unproven reports whether a build, or its code for the GPUs in use, is reported only. A
// patch release that is inferred from its minor release counts as proven here.
func (q *attempt) unproven(b *matrix.Build) bool {
	_, doubted := q.remarks().doubted(b)
	return doubted || b.Proof == matrix.ByReport || channelOf(b) != ""
}

// closestTorch tries, beside the newest torch that fits where another one was asked for,
// the release that is closest to that one and fits, and the newest that is proven where
// the newest of all is not. open is the question without the versions, c its answer.
func (s advice) closestTorch(o *outcome, open *problem, c *Choice, try tryFunc) {
	made := open.chooser().answer()
	if o.Decision != NoSolution || made.q == nil || made.build == nil || s.p.req.Channel != "" || s.p.req.conflict != "" {
		return
	}
	closest, proven := s.closestBuilds(made)
	for _, b := range []*matrix.Build{closest, proven} {
		if b == nil || b == proven && !made.q.unproven(made.build) && b != closest {
			continue
		}
		if v := b.Release.Torch.String(); v != c.Torch && s.releasesFromAsked(b) > 0 {
			try("torch "+v, s.p.with(func(r *Request) { r.Requirements = torchInstead(r.Requirements, v) }), func(*Choice) bool { return true })
		}
	}
}

// closestBuilds are the build whose torch is closest to what was asked for, of those that
// go with an answer, and the newest that is proven.
func (s advice) closestBuilds(made *outcome) (closest, proven *matrix.Build) {
	made.q.p.builds(func(b *matrix.Build) { // newest first
		if !sameKind(b, made.build) || made.q.unproven(b) || b.Status != matrix.Offered {
			return
		}
		d := s.releasesFromAsked(b)
		if closest != nil && d >= s.releasesFromAsked(closest) && proven != nil || !made.q.passes(b) {
			return
		}
		if proven == nil {
			proven = b
		}
		if closest == nil || d < s.releasesFromAsked(closest) {
			closest = b
		}
	})
	return closest, proven
}

// releasesFromAsked counts the releases between a build's torch and the nearest one that
// was asked for.
func (s advice) releasesFromAsked(b *matrix.Build) int {
	at, nearest := s.p.cache.rank[b.Release], len(s.p.m.Releases)
	for i, r := range s.p.m.Releases {
		if s.p.admitsTorch(r.Torch) {
			nearest = min(nearest, max(at-i, i-at))
		}
	}
	return nearest
}

// torchInstead asks for one torch, with the companions that go with it.
func torchInstead(reqs []pep508.Requirement, v string) []pep508.Requirement {
	out := unpinnedTorch(reqs)
	spec, err := version.ParseSpecifier("==" + v)
	for i := range out {
		if out[i].Name == "torch" && err == nil {
			out[i].Spec, out[i].Text = spec, "torch=="+v
		}
	}
	return out
}
