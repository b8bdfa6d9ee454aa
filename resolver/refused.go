package resolver

import (
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/matrix"
)

// A refusedKey is a package of the request, by its place, beside a build: with that
// Python and those GPUs. A driver has no say in it, and neither has what is asked of
// torch, so that another driver, another Python or another torch asks again.
type refusedKey struct {
	at    int
	b     *matrix.Build
	py    py
	accel string
	gpus  uint64
}

func byPackage(m *matrix.Matrix) map[string][]*matrix.Extension {
	out := map[string][]*matrix.Extension{}
	for i := range m.Extensions {
		e := &m.Extensions[i]
		out[e.Package] = append(out[e.Package], e)
	}
	return out
}

// A servedKey is a framework beside one CUDA, cuDNN and driver; own is the build that it
// stands beside where that is a framework's.
type servedKey struct {
	name, spec, extras, accel, cu, cudnn, driver string
	own                                          *matrix.Build
	windows, compared                            bool
	py                                           py
	gpus                                         uint64
}

// frameworkRefusal is frameworkFor, remembered where nobody reads its words. It finds
// nothing and refuses nothing where a package is no framework, or is conda's to choose.
func (q fits) frameworkRefusal(r pep508.Requirement, b *matrix.Build) (*matrix.Build, *Reason) {
	if !q.a.p.isFramework(r.Name) || isConda(b) {
		return nil, nil
	}
	gpus, few := gpuSet(q.a.gpus)
	if q.a.explain || !few {
		return q.frameworkFor(r, b)
	}
	key := servedKey{r.Name, r.Spec.String(), strings.Join(r.Extras, ","), q.a.accel, b.CUDA.MajorMinor(), b.CuDNN.String(), q.a.drv.version.String(), nil,
		q.a.drv.windows, q.a.drv.compared, q.a.py, gpus}
	if b.Framework != nil {
		key.own = b
	}
	found := remembered(q.a.p.memo.frameworks, key, func() *matrix.Build { found, _ := q.frameworkFor(r, b); return found })
	if found == nil {
		return nil, silent
	}
	return found, nil
}

// refused says why a package does not go with a build, whatever it is; it is remembered
// where nobody reads its words.
func (q *attempt) refused(at int, r pep508.Requirement, b *matrix.Build) *Reason {
	if q.p.isFramework(r.Name) && r.URL == "" {
		if b.Framework == nil {
			if why := q.pinRefusal(r, b); why != nil {
				return why
			}
		}
		_, why := q.fits().frameworkRefusal(r, b)
		return why
	}
	if b.Framework != nil {
		return q.fits().besideFramework(r, b)
	}
	gpus, few := gpuSet(q.gpus)
	if q.explain || !few {
		return q.packages().packageRefusal(r, b)
	}
	if remembered(q.p.memo.refused, refusedKey{at, b, q.py, q.accel, gpus}, func() bool { return q.packages().packageRefusal(r, b) != nil }) {
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
	if !slices.Equal(s.p.req.AllowURL, from.req.AllowURL) {
		return
	}
	if slices.EqualFunc(s.p.req.packages, from.req.packages, same) {
		s.p.memo.refused = from.memo.refused
		if s.p.req.Policy == from.req.Policy {
			s.p.memo.frameworks = from.memo.frameworks
		}
	}
}
