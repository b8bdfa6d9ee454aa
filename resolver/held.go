package resolver

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"envfix/matrix"
)

// heldBack says what kept a newer torch that was asked for from being chosen: of the
// newer ones the one that the fewest rules refuse, since mending that gives it. ""
// where nothing newer was.
func (q *attempt) heldBack(chosen *matrix.Build) string {
	var best *matrix.Build
	var why []Reason
	fewest := math.MaxInt
	q.p.builds(func(b *matrix.Build) { // newest first
		if fewest == 1 || q.p.cache.newerTorch(b, chosen) <= 0 || !sameKind(b, chosen) || b.Status != matrix.Offered && hasOffered(b.Release, b) {
			return
		}
		rs := q.refusals(b)
		against := 0
		for _, r := range rs {
			switch {
			case r.Rule == "request": // who asked for less knows it
				return
			case r.Rule != "companions" || q.pinnedBeside(b):
				against++
			} // else: often for the same reason as another rule
		}
		if against = cmp.Or(against, 2); len(rs) > 0 && against < fewest {
			best, why, fewest = b, rs, against
		}
	})
	if best == nil {
		return q.lastForSystem(chosen)
	}
	return fmt.Sprintf("%s: %s", torchName(best), weightiest(why).Text)
}

// pinnedBeside reports whether the version that the user asked of another package, or a
// framework of another CUDA, is what does not go with a build: no driver and no Python
// would change that.
func (q *attempt) pinnedBeside(b *matrix.Build) bool {
	for _, name := range companions {
		v, ok := q.p.companion(b, name)
		if reqs, asked := q.p.req.asked[name]; asked && len(reqs) > 0 && !(ok && q.p.admits(reqs, v)) {
			return true
		}
	}
	for i, r := range q.p.req.packages {
		if (!r.Spec.IsZero() || q.p.isFramework(r.Name)) && q.refused(i, r, b) != nil {
			return true
		}
	}
	return false
}

// sameKind reports whether a build computes on what another one computes on.
func sameKind(b, like *matrix.Build) bool {
	return accelOf(b.Label) == accelOf(like.Label) && (accelOf(like.Label) != cpu || b.Label == like.Label)
}

// lastForSystem says that PyTorch made no newer release for this system; "" it did.
func (q *attempt) lastForSystem(b *matrix.Build) string {
	newest := b.Release.Torch
	if b.Framework != nil {
		return ""
	}
	ofSystem := func(o *matrix.Build) bool {
		return o.OS == b.OS && o.Arch == b.Arch && o.Release.Torch.Compare(newest) > 0
	}
	if len(q.p.m.Releases) == 0 || q.p.m.Releases[0].Torch.Compare(newest) == 0 || isConda(b) ||
		slices.ContainsFunc(q.p.m.Releases, func(r *matrix.Release) bool { return slices.ContainsFunc(r.Builds, ofSystem) }) {
		return ""
	}
	return fmt.Sprintf("torch %s is the last with wheels for %s %s", newest, b.OS, b.Arch)
}

// hasOffered reports whether a release offers a build of the same kind and
// system.
func hasOffered(r *matrix.Release, like *matrix.Build) bool {
	return slices.ContainsFunc(r.Builds, func(b *matrix.Build) bool {
		return b.Status == matrix.Offered && b.OS == like.OS && b.Arch == like.Arch && accelOf(b.Label) == accelOf(like.Label)
	})
}
