package evidence

import (
	"fmt"
	"slices"
	"strconv"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// SaidDriver is the driver of which a message says only what CUDA it supports: "too old
// (found version 11040)" is CUDA 11.4, the newest release of that branch. Zero: no
// message says it, or there is no matrix to ask (explain's).
func (e *Evidence) SaidDriver() version.Dotted {
	if e.Matrix == nil {
		return version.Dotted{}
	}
	for _, h := range e.Hits {
		n, err := strconv.Atoi(h.Captures["found"])
		if err != nil || n < 9000 || n > 99990 {
			continue
		}
		supported := fmt.Sprintf("%d.%d", n/1000, n%1000/10)
		for _, b := range e.Matrix.Branches { // newest first
			if b.CUDA.MajorMinor() == supported {
				return b.Latest
			}
		}
	}
	return version.Dotted{}
}

// Has returns where the first message of these ids stood; ok is false where none
// was found.
func (e *Evidence) Has(ids ...string) (read.Evidence, bool) {
	h, ok := xslices.Find(e.Hits, func(h read.Hit) bool { return slices.Contains(ids, h.Message.ID) })
	return h.At, ok
}

// Hit returns the first message of an id.
func (e *Evidence) Hit(id string) *read.Hit {
	return xslices.At(e.Hits, func(h read.Hit) bool { return h.Message.ID == id })
}

// Clue reports whether the text has a clue.
func (e *Evidence) Clue(id string) bool {
	return slices.ContainsFunc(e.Clues, func(h read.ClueHit) bool { return h.Clue.ID == id })
}

// Limit returns a limit that limits.yaml has; a test looks for each that is used.
func (e *Evidence) Limit(id string) *know.Limit { return e.Knowledge.Limits[id] }

// LimitSM is the i-th value of a limit as a compute capability.
func (e *Evidence) LimitSM(id string, i int) machine.SM { return machine.MustSM(e.Limit(id).Values[i]) }

// CPUByChoice reports whether there is no GPU by the machine's owner's word, and
// nothing asks for one: a build without CUDA is the right one then.
func (e *Evidence) CPUByChoice() bool { return !e.Says.NoGPU.IsZero() && !e.WantsGPU() }

// WantsGPU reports whether the text speaks of a GPU that is not used.
func (e *Evidence) WantsGPU() bool {
	_, said := e.None("torch-cpu-build", "torch-not-linked-cuda", "torch-cuda-ext-absent", "yolo-device")
	return said
}

// None is where one of some messages, those of the limit no-device or torch itself says that there is
// no GPU.
func (e *Evidence) None(messages ...string) (read.Evidence, bool) {
	if said, ok := e.Has(slices.Concat(messages, e.Limit("no-device").Values)...); ok || !e.Torch.SeesNone() {
		return said, ok
	}
	return e.Torch.AvailableAt, true
}

// Unseen reports whether the text says that no GPU is seen, and where.
func (e *Evidence) Unseen() (read.Evidence, bool) {
	if said, ok := e.None("ngc-no-gpu", "torch-no-kernel-driver"); ok {
		return said, true
	}
	return e.Says.Unseen, !e.Says.Unseen.IsZero()
}
