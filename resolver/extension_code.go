package resolver

import (
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// codeOf returns what is known of a wheel's code. Where nobody read the wheel, the
// nearest older and newer ones that were, for this system and the same CUDA,
// speak for it: a GPU that neither serves, it does not serve.
func (q packages) codeOf(e *matrix.Extension) code {
	return remembered(q.a.p.cache.read, e, func() code { return q.whatCode(e) })
}

func (q packages) whatCode(e *matrix.Extension) code {
	c := code{cuda: e.CUDA}
	if len(e.Native)+len(e.PTX) > 0 {
		c.rows = []*matrix.Extension{e}
		return c
	}
	if e.OS == "" || e.Proof == matrix.ByWheel && e.CUDA == "" {
		return c // pure Python, or read and without GPU code
	}
	if c.cuda == "" {
		c.cuda, c.linked = q.cudaOfNeighbours(e)
	}
	older, newer := q.neighbours(e, func(o *matrix.Extension) bool {
		return c.cuda != "" && len(o.Native)+len(o.PTX) > 0 && major(o.CUDA) == major(c.cuda) && len(o.TorchLabels) == 0
	})
	c.rows = append(c.rows, xslices.Filter([]*matrix.Extension{newer, older}, func(o *matrix.Extension) bool { return o != nil })...)
	return c
}

// bare reports whether a wheel was read, links no CUDA and holds no code for a GPU, nor has
// any compiled at its first use.
func (q packages) bare(e *matrix.Extension) bool {
	return e.Proof == matrix.ByWheel && e.OS != "" && len(e.TorchLabels)+len(e.Needs) == 0 && !strings.Contains(e.Note, "JIT") &&
		q.codeOf(e).cuda == "" && len(q.codeOf(e).rows) == 0
}

// forGPUsApart reports whether a bare wheel stands beside others with CUDA that were meant:
// those of another place, or of another release or system where what lacks CUDA shows when
// it is called, unless nobody asked for it. What would show at its import is whole without it, as a decoder of videos.
func (q packages) forGPUsApart(r pep508.Requirement, e *matrix.Extension) bool {
	ofCUDA := func(o *matrix.Extension) bool { return o.CUDA != "" }
	placed := func(o matrix.Elsewhere) bool {
		return o.Package == e.Package && o.URL != "" && slices.ContainsFunc(o.CUDA, isCUDA)
	}
	return r.From != OfOthers && q.bare(e) &&
		(e.Fails == "call" && slices.ContainsFunc(q.a.p.cache.byPackage()[e.Package], ofCUDA) || slices.ContainsFunc(q.a.p.m.Elsewhere, placed))
}

// neighbours returns the nearest older and newer wheels of a package on this
// system that satisfy a condition; nil where there is none.
func (q packages) neighbours(e *matrix.Extension, ok func(*matrix.Extension) bool) (older, newer *matrix.Extension) {
	for _, o := range q.a.p.wheels(e.Package) { // newest first
		switch {
		case o.Sdist || !ok(o):
		case o.Version.Compare(e.Version) > 0:
			newer = o
		case older == nil && o != e:
			older = o
		}
	}
	return older, newer
}

// cudaOfNeighbours is the CUDA that a wheel of which only the metadata was read is
// built for: that of the same release on another architecture, else that of the
// releases next to it where they agree. Where both are for some CUDA and do not agree, it
// is for one of them.
func (q packages) cudaOfNeighbours(e *matrix.Extension) (cuda string, linked bool) {
	for _, o := range q.a.p.cache.byPackage()[e.Package] {
		if o.OS == e.OS && o.Proof == matrix.ByWheel && o.Version.Compare(e.Version) == 0 {
			return o.CUDA, o.CUDA != ""
		}
	}
	older, newer := q.neighbours(e, func(o *matrix.Extension) bool { return o.Proof == matrix.ByWheel || o.CUDA != "" })
	switch {
	case newer == nil && older == nil:
		return "", false
	case newer == nil:
		return older.CUDA, older.CUDA != ""
	case older == nil || major(older.CUDA) == major(newer.CUDA):
		return newer.CUDA, newer.CUDA != ""
	}
	return "", older.CUDA != "" && newer.CUDA != ""
}

func major(v string) string {
	m, _, _ := strings.Cut(v, ".")
	return m
}

// missingFor says which GPU in use a wheel has no code for.
func (q packages) missingFor(e *matrix.Extension, c code) string {
	for _, g := range q.a.gpus {
		if !e.MinSM.IsZero() && g.SM.Less(e.MinSM) {
			return "needs GPU " + e.MinSM.String() + " or newer; there is " + gpuName(g)
		}
		covered := len(c.rows) == 0
		for _, row := range c.rows {
			native, ptx := q.a.p.m.Covers(row.Native, row.PTX, g.SM)
			covered = covered || native || ptx || len(c.rows) == 1 && row != e && !speaksFor(row, e, g.SM)
		}
		if covered {
			continue
		}
		if c.rows[0] != e {
			return "was not read, and " + c.rows[0].Version.String() + ", which was, has no code for " + gpuName(g)
		}
		return "has no code for " + gpuName(g)
	}
	return ""
}

// speaksFor reports whether a wheel's lack of code for a GPU says the same of
// another release of the package. Support for old GPUs is dropped and support for
// new ones added: so a newer release says nothing about GPUs older than its
// oldest, nor an older one about GPUs newer than its newest.
func speaksFor(read, e *matrix.Extension, sm machine.SM) bool {
	if len(read.Native) == 0 {
		return false
	}
	byAge := func(a, b matrix.Code) int { return a.SM.Compare(b.SM) }
	if read.Version.Compare(e.Version) > 0 {
		return !sm.Less(slices.MinFunc(read.Native, byAge).SM)
	}
	return !slices.MaxFunc(read.Native, byAge).SM.Less(sm)
}

// code is what is known of the GPU code in a wheel: read from it, or else from
// the releases of the same package next to it.
type code struct {
	cuda   string
	linked bool                // it is for a CUDA, though nobody knows which
	rows   []*matrix.Extension // that were read: the wheel itself, or its neighbours; empty: none
}
