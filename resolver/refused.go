package resolver

import (
	"slices"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/matrix"
)

// A refusedKey is a package of the request, by its place, beside a build: with that
// Python, those GPUs and, where it is a framework, that driver. What is asked of torch has no
// say in it, so that another torch asks again.
type refusedKey struct {
	at    int
	b     *matrix.Build
	py    py
	accel string
	gpus  uint64
	drv   string
}

func byPackage(m *matrix.Matrix) map[string][]*matrix.Extension {
	out := map[string][]*matrix.Extension{}
	for i := range m.Extensions {
		e := &m.Extensions[i]
		out[e.Package] = append(out[e.Package], e)
	}
	return out
}

// refused says why a package does not go with a build, whatever it is; it is remembered
// where nobody reads its words.
func (q *attempt) refused(at int, r pep508.Requirement, b *matrix.Build) *Reason {
	ask, drv := q.packages().packageRefusal, ""
	if q.p.isFramework(r.Name) && r.URL == "" {
		ask, drv = q.fits().frameworkRefusal, q.drv.version.String()
	}
	gpus, few := gpuSet(q.gpus)
	if q.explain || !few {
		return ask(r, b)
	}
	if remembered(q.p.memo.refused, refusedKey{at, b, q.py, q.accel, gpus, drv}, func() bool { return ask(r, b) != nil }) {
		return silent
	}
	return nil
}

// gpuSet is the set of some GPUs of a machine by their indexes; few is false where they
// are too many to be one.
func gpuSet(gpus []machine.GPU) (set uint64, few bool) {
	for _, g := range gpus {
		if g.Index < 0 || g.Index >= 64 {
			return 0, false
		}
		set |= 1 << g.Index
	}
	return set, true
}

// remember takes over what another problem of this machine found out of the same packages.
func (s advice) remember(from *problem) {
	same := func(a, b pep508.Requirement) bool {
		return a.Name == b.Name && a.URL == b.URL && slices.Equal(a.Extras, b.Extras) && a.Spec.String() == b.Spec.String()
	}
	if s.p.req.Policy == from.req.Policy && slices.Equal(s.p.req.AllowURL, from.req.AllowURL) && slices.EqualFunc(s.p.req.packages, from.req.packages, same) {
		s.p.memo.refused = from.memo.refused
	}
}
