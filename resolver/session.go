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
	Options  []Option // that run with the driver as it is, or after the change that Driver names; the preferred first
	Why      []Reason // where nothing fits as the machine is, or a target must be named
}

// An Option is a combination that every rule lets through on one machine.
type Option struct {
	Torch  string // public version
	Build  string // local label, such as cu126
	Python string // the machine's preferred one of those that pass
}

// Brief answers for one machine. Its error reports a malformed Request.
func (x *Session) Brief(h machine.Machine, r Request) (*Brief, error) {
	s, err := x.read(h, r)
	if err != nil {
		return nil, err
	}
	o := s.chooser().besideConda(s.chooser().decide())
	b := &Brief{Decision: o.Decision, Choice: o.Choice, Then: o.Then, Driver: o.Driver}
	switch c := o.settled(); {
	case c != nil && o.q != nil:
		b.Options = o.q.options()
		if o.Choice == nil { // after a change of the driver
			b.Why = o.Reasons
		}
	case c != nil: // a vendor's own index
		b.Options = []Option{{c.Torch, c.Build, c.Python}}
	case o.q != nil && o.Decision == NoSolution:
		b.Why = o.q.why()
	default:
		b.Why = o.Reasons
	}
	return b, nil
}

// Runs is the choice that can be carried out on a machine as it is; nil there is none.
func (x *Session) Runs(h machine.Machine, r Request) *Choice {
	s, err := x.read(h, r)
	if err != nil {
		return nil
	}
	switch o := s.chooser().besideConda(s.chooser().decide()); o.Decision {
	case Install, InstallCPU, Partial:
		return o.Choice
	}
	return nil
}

// read is newProblem with what the session knows of the system.
func (x *Session) read(h machine.Machine, r Request) (*problem, error) {
	s, err := readInput(x.m, h, r)
	if err != nil {
		return nil, err
	}
	key := system{h.Platform.OS, h.Platform.Arch}
	if s.cache = x.caches[key]; s.cache == nil {
		s.cache = newCache(x.m, h.Platform)
		x.caches[key] = s.cache
	}
	s.complete()
	return s, nil
}

// options lists every torch and build that passes for the machine, GPUs and driver
// of the question, with the first Python that it passes with.
func (q *attempt) options() []Option {
	pythons := q.p.pythons()
	if i := slices.Index(pythons, q.py); i > 0 { // the answer's own first
		pythons = slices.Insert(slices.Delete(slices.Clone(pythons), i, i+1), 0, q.py)
	}
	asks := make([]*attempt, len(pythons))
	for i, p := range pythons {
		asks[i] = q.p.ask(q.accel, q.gpus, q.drv, p)
	}
	type passing struct {
		b *matrix.Build
		p py
	}
	var found []passing
	q.p.builds(func(b *matrix.Build) {
		if isConda(b) || accelOf(b.Label) != q.accel && !q.servesCPU(b) {
			return
		}
		low, high := q.p.cache.pythons(b)
		for i, p := range pythons {
			if p.within(low, high, b.FreeThreaded) && asks[i].passes(b) {
				found = append(found, passing{b, p})
				return
			}
		}
	})
	slices.SortStableFunc(found, func(a, b passing) int {
		c, _ := q.compare(b.b, a.b)
		return c
	})
	var out []Option
	for _, f := range found {
		o := Option{f.b.Release.Torch.String(), f.b.Label, f.p.String()}
		if n := len(out); n == 0 || out[n-1].Torch != o.Torch || out[n-1].Build != o.Build {
			out = append(out, o)
		}
	}
	return out
}

// Updated returns a machine as it is after its NVIDIA driver was changed to the
// branch that is recommended for its GPUs, and that branch's number. ok is false
// where there is nothing newer, or where the driver is not this machine's to change
// (a container, JetPack, no NVIDIA GPU).
func (x *Session) Updated(h machine.Machine, r Request) (after machine.Machine, branch int, ok bool) {
	s, err := x.read(h, r)
	if err != nil || s.inContainer() || s.tegra() || h.Driver == nil {
		return h, 0, false
	}
	gpus := s.vendor(machine.NVIDIA)
	b, _, _, ok := s.chooser().recommend(gpus, h.Driver.Version)
	if !ok || len(gpus) == 0 {
		return h, 0, false
	}
	on := s.onBranch(b, gpus)
	h.Driver = &machine.Driver{Version: on.version, KernelModule: on.module}
	return h, b.Number, true
}
