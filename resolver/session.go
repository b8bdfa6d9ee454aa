package resolver

import (
	"slices"

	"envfix/internal/machine"
	"envfix/matrix"
)

// A Session resolves many machines with one matrix. What the rules found out about
// a system's builds is kept from one machine to the next, which makes each about
// ten times cheaper than Resolve. It is not safe for concurrent use: one per
// goroutine.
type Session struct {
	m      *matrix.Matrix
	caches map[system]*cache
}

// A system is what wheels are listed by.
type system struct{ os, arch string }

// NewSession returns an empty Session.
func NewSession(m *matrix.Matrix) *Session {
	return &Session{m: m, caches: map[system]*cache{}}
}

// A Brief is an answer without reasons, nearest and alternatives, and with every
// combination that would run instead.
type Brief struct {
	Decision Decision
	Choice   *Choice // as in Resolution
	Then     *Choice
	Driver   DriverChoice
	Options  []Option // that run with the driver as it is, or after the change that Driver names; newest torch first
	Why      []Reason // where nothing fits or a target must be named
	Warnings []string
}

// An Option is a combination that every rule lets through on one machine.
type Option struct {
	Torch  string // public version
	Build  string // local label, such as cu126
	Python string // the machine's preferred one of those that pass
}

// Brief answers for one machine. Its error reports a malformed Request.
func (x *Session) Brief(h machine.Machine, r Request) (*Brief, error) {
	s, err := readInput(x.m, h, r)
	if err != nil {
		return nil, err
	}
	key := system{h.Platform.OS, h.Platform.Arch}
	if s.cache = x.caches[key]; s.cache == nil {
		s.cache = newCache(x.m, h.Platform)
		x.caches[key] = s.cache
	}
	o := s.decide()
	b := &Brief{Decision: o.Decision, Choice: o.Choice, Then: o.Then, Driver: o.Driver, Warnings: o.Warnings}
	switch c := o.settled(); {
	case c != nil && o.q != nil:
		b.Options = o.q.options()
	case c != nil: // a vendor's own index
		b.Options = []Option{{c.Torch, c.Build, c.Python}}
	case o.q != nil && o.Decision == NoSolution:
		b.Why = o.q.why()
	default:
		b.Why = o.Reasons
	}
	return b, nil
}

// options lists every torch and build that passes for the machine, GPUs and driver
// of the question, with the first Python that it passes with.
func (q *question) options() []Option {
	pythons := q.pythons()
	if i := slices.Index(pythons, q.py); i > 0 { // the answer's own first
		pythons = slices.Insert(slices.Delete(slices.Clone(pythons), i, i+1), 0, q.py)
	}
	asks := make([]*question, len(pythons))
	for i, p := range pythons {
		asks[i] = q.ask(q.accel, q.gpus, q.drv, p)
	}
	var out []Option
	q.builds(func(b *matrix.Build) {
		if b.Index == condaForge || b.Index == condaPyTorch || accelOf(b.Label) != q.accel {
			return
		}
		low, high := q.cache.pythons(b)
		for i, p := range pythons {
			if p.within(low, high, b.FreeThreaded) && asks[i].passes(b) {
				out = append(out, Option{b.Release.Torch.String(), b.Label, p.String()})
				return
			}
		}
	})
	return slices.CompactFunc(out, func(a, b Option) bool { return a.Torch == b.Torch && a.Build == b.Build })
}
