package resolver

import (
	"slices"

	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/matrix"
)

// A preference is one named comparison of two builds that both pass: positive
// where a is better, zero where it does not decide.
type preference struct {
	name string // printed by `why`
	text string
	less func(q *attempt, a, b *matrix.Build) int
}

// preferences are tried in this order; the first that decides, decides. Before
// all of them stands "no driver change": builds that need one are only looked at
// where no other passes.
var preferences = []preference{
	{"seen", "a wheel that somebody has seen", func(q *attempt, a, b *matrix.Build) int {
		return boolInt(q.p.req.unknown(b)) - boolInt(q.p.req.unknown(a))
	}},
	{"known", "its AMD GPUs are known, not inferred", func(q *attempt, a, b *matrix.Build) int {
		return boolInt(q.inferred(b)) - boolInt(q.inferred(a))
	}},
	{"torch", "newer torch", func(q *attempt, a, b *matrix.Build) int {
		return q.p.cache.newerTorch(a, b)
	}},
	{"packages", "newer releases of what else was asked for", func(q *attempt, a, b *matrix.Build) int {
		return q.packages().newer(a, b)
	}},
	{"native", "its CUDA is supported natively by the driver", func(q *attempt, a, b *matrix.Build) int {
		return boolInt(q.natively(a)) - boolInt(q.natively(b))
	}},
	{"default", "the build of the default index", func(q *attempt, a, b *matrix.Build) int {
		return boolInt(a.Default) - boolInt(b.Default)
	}},
	{"cuda", "newer CUDA", func(q *attempt, a, b *matrix.Build) int {
		return a.CUDA.Compare(b.CUDA)
	}},
	{"rocm", "newer ROCm", func(q *attempt, a, b *matrix.Build) int {
		return rocmOf(a.Label).Compare(rocmOf(b.Label))
	}},
}

// compare orders two builds and names the comparison that decided; "" where they
// are equal.
func (q *attempt) compare(a, b *matrix.Build) (int, *preference) {
	for i := range preferences {
		p := &preferences[i]
		if c := p.less(q, a, b); c != 0 {
			return c, p
		}
	}
	return 0, nil
}

// inferred reports whether that a ROCm build has code for a GPU in use is inferred
// alone, as from a build script that is younger than the build.
func (q *attempt) inferred(b *matrix.Build) bool {
	return q.accel == rocm && slices.ContainsFunc(q.gpus, func(g machine.GPU) bool {
		t, ok := q.p.vendors().rocmTarget(b, g)
		return ok && t.Proof == matrix.ByInference
	})
}

// rocmOf is the ROCm version of a label; zero for other builds.
func rocmOf(label string) version.Dotted {
	if accelOf(label) != rocm {
		return version.Dotted{}
	}
	v, _ := version.ParseDotted(label[len(rocm):])
	return v
}
