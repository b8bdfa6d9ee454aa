package resolver

import (
	"fmt"
	"slices"

	"envfix/matrix"
)

// heldBack says what kept the newest torch that was asked for from being
// chosen; "" where nothing newer was.
func (q *question) heldBack(chosen *matrix.Build) string {
	var best *matrix.Build // the one that least speaks against, and of such the newest
	var why Reason
	fewest := 0
	q.builds(func(b *matrix.Build) {
		if q.cache.newerTorch(b, chosen) <= 0 || accelOf(b.Label) != accelOf(chosen.Label) && accelOf(chosen.Label) != cpu ||
			accelOf(chosen.Label) == cpu && b.Label != chosen.Label {
			return
		}
		if best != nil && fewest == 1 && q.cache.newerTorch(best, b) >= 0 {
			return
		}
		rs := q.refusals(b)
		if best != nil && (len(rs) > fewest || len(rs) == fewest && q.cache.newerTorch(best, b) >= 0) {
			return
		}
		if slices.ContainsFunc(rs, func(r Reason) bool { return r.Rule == "request" }) { // who asked for less knows it
			return
		}
		if len(rs) > 0 && (b.Status == matrix.Offered || !hasOffered(b.Release, b)) {
			best, why, fewest = b, weightiest(rs), len(rs)
		}
	})
	if best == nil {
		return q.lastForSystem(chosen)
	}
	return fmt.Sprintf("%s: %s", torchName(best), why.Text)
}

// lastForSystem says that PyTorch made no newer release for this system; "" it did.
func (q *question) lastForSystem(b *matrix.Build) string {
	newest := b.Release.Torch
	for _, r := range q.m.Releases {
		if slices.ContainsFunc(r.Builds, func(o *matrix.Build) bool { return o.OS == b.OS && o.Arch == b.Arch && r.Torch.Compare(newest) > 0 }) {
			return ""
		}
	}
	if len(q.m.Releases) == 0 || q.m.Releases[0].Torch.Compare(newest) == 0 || isConda(b) {
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
