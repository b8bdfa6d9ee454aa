// Package planning makes plans. It alone knows the order of things: the machine and
// the programs that the steps will find, the request with what the environment holds,
// the team's lock or else the resolver, the installers, the packages, the seal. Whoever
// shows, carries out, judges or advises asks it, so that all say the same of the same
// evidence. It reads nothing: what it needs of the world comes in by [Ports].
package planning

import (
	"cmp"
	"errors"
	"slices"

	"envfix/installers"
	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"
)

// A Question is all that an answer stands on: a machine, what is wished for it under
// which policy and on which day, and where that goes.
type Question struct {
	Matrix  *matrix.Matrix
	Machine machine.Machine  // as it was read or described; a plan's facts
	Words   describe.Machine // what of it was described; the zero value: nothing
	Request resolver.Request
	Target  plan.Target
	Apart   bool   // what is installed on Machine is in another environment than Target's
	Envfix  string // the version that a plan names as its maker
	Read    string // what of a project was read; "" there is none

	Said []string   // the requirements that no file says
	Wish *plan.Wish // what was asked for when the target's environment was made; nil: nothing that counts
}

// Ports are what a plan needs of the world. One that is nil is not asked.
type Ports struct {
	// Tools adds to a machine the programs that the steps run.
	Tools func(machine.Machine) machine.Machine
	// Lock is the plan of the lock that governs; nil where none does.
	Lock func(Question) (*plan.Plan, error)
	// Propose resolves all that is asked for, within what the resolver admits; nil:
	// nobody was asked.
	Propose func(Question) *Proposal
	// Look asks the index of a choice whether it lists the wheels that were chosen from it;
	// known is false where nobody could tell.
	Look func(c *resolver.Choice) (l *resolver.Listed, known bool)
	// Read asks the default index about a package that the matrix does not tell of.
	Read func(pep508.Requirement) matrix.Read
	// Cautions are what the plan warns of beside what the resolver does.
	Cautions func(*resolver.Choice) []string
	// Drivers are the versions of packages that the system's manager has.
	Drivers func(manager string, names []string) *machine.DriverPackages
}

// A Proposal is what was found out of a request by resolving all of it.
type Proposal struct {
	Judged    resolver.Request // what the resolver is asked: with a Python, without what it has no say on
	Installed resolver.Request // what is installed: without what is set aside
	Build     []string         // NAME==VERSION of what has no wheel and is built
	Limits    []string         // of the tools that build it
	Pins      []string         // NAME==VERSION of what was found to go together
	Override  []string         // requirements in place of what packages say
	Said      []string
	Lacks     bool     // what the sources import is not all of it
	Closing   []string // what is built beside, where that is asked for too
	Refused   error    // why what is asked for cannot be installed together; nil: it can
}

// Choose asks the resolver alone: for who judges or compares and installs nothing. Its
// error is a [fail.Error] that reports a malformed request.
func (q Question) Choose() (*resolver.Resolution, error) {
	res, err := resolver.Resolve(q.Matrix, q.seen(), q.request())
	return res, fail.Wrap(fail.Usage, err)
}

// Brief is Choose in short: what was decided and why, without the nearest other answers.
func (q Question) Brief() (*resolver.Brief, error) {
	return resolver.NewSession(q.Matrix).Brief(q.seen(), q.request())
}

// Runs answers many requests for the question's machine: with the choice that can be
// carried out as it is, or nil.
func (q Question) Runs() func(resolver.Request) *resolver.Choice {
	x, seen := resolver.NewSession(q.Matrix), q.seen()
	return func(r resolver.Request) *resolver.Choice {
		q.Request = r
		return x.Runs(seen, q.request())
	}
}

// Why asks for the case for and against every build that a requirement matches. What a plan of
// it would be told by an index and by uv is told here, so that both give one answer.
func (q Question) Why(w Ports, asked pep508.Requirement) (*resolver.Case, error) {
	all := q
	all.Request.Requirements = append(slices.Clone(q.Request.Requirements), asked)
	all.look(w)
	q.Matrix, q.Request.Listed = all.Matrix, all.Request.Listed
	all.Machine, all.Request = all.seen(), all.request()
	answer, err := all.propose(w)
	if no := (*fail.Error)(nil); errors.As(err, &no) && no.Code == fail.NoSolution {
		answer, err = &resolver.Resolution{Decision: resolver.NoSolution, Told: resolver.Told{Alternatives: no.Hints}}, nil
		answer.Reasons = []resolver.Reason{{Rule: "companions", Text: cmp.Or(append(slices.Clip(no.Details), no.Text)...)}}
	}
	if err != nil {
		return nil, err
	}
	c, err := resolver.Why(q.Matrix, q.seen(), q.request(), asked, answer)
	return c, fail.Wrap(fail.Usage, err)
}

// Make returns the sealed plan: what is carried out, saved or compared.
func (q Question) Make(w Ports) (*plan.Plan, error) {
	p, err := q.Draft(w)
	if err != nil {
		return nil, err
	}
	return p, plan.Seal(p)
}

// Draft is Make without an id, for what is only shown: to compute the id is a third of
// the work.
func (q Question) Draft(w Ports) (*plan.Plan, error) {
	facts := q.Machine
	if p := q.Request.Policy; p != nil {
		q.Target.Mirrors = slices.Concat(q.Target.Mirrors, p.Mirrors)
	}
	if w.Tools != nil {
		q.Machine = w.Tools(q.Machine)
	}
	if w.Lock != nil {
		if p, err := w.Lock(q); p != nil || err != nil {
			if err == nil {
				p.Basis.Facts = facts     // the uv that `envfix lock` brought is none of the machine's
				q.Said, q.Wish = nil, nil // the lock says which packages, and whence
				p.Wish = q.remember(resolver.Request{})
			}
			return p, err
		}
	}
	said := q.yield()
	q.Machine, q.Request = q.seen(), q.request()
	q.look(w)
	res, err := q.propose(w)
	if err != nil {
		return nil, err
	}
	res.Warnings = append(res.Warnings, said...)
	if w.Cautions != nil {
		res.Warnings = append(res.Warnings, w.Cautions(res.Choice)...)
	}
	if w.Drivers != nil {
		if manager, names := installers.DriverPackages(q.Matrix, facts, q.Request, res); manager != "" {
			facts.DriverPackages = w.Drivers(manager, names)
			q.Machine.DriverPackages = facts.DriverPackages
		}
	}
	p, err := q.Steps(res)
	if err != nil {
		return nil, err
	}
	if p.Wish = q.Wish; q.Target.Repair == nil { // a repair wishes for nothing
		p.Wish = q.remember(q.Request)
	}
	p.Read, p.Basis.Envfix, p.Basis.Facts, p.Basis.Assumed = q.Read, q.Envfix, facts, q.assumed(p, facts)
	return p, nil
}

// propose chooses what is proposed, and leaves q as the steps need it.
func (q *Question) propose(w Ports) (*resolver.Resolution, error) {
	var p *Proposal
	if w.Propose != nil {
		p = w.Propose(*q)
	}
	if p == nil {
		return q.Choose()
	}
	if p.Refused != nil {
		if res, err := q.Choose(); err == nil && res.Decision == resolver.NoSolution { // it knows more ways out
			return res, nil
		}
		return nil, p.Refused
	}
	q.Request = p.Judged
	res, err := q.Choose()
	q.Request = p.Installed
	q.Target.Build, q.Target.BuildLimits, q.Target.Pins, q.Target.Override = p.Build, p.Limits, p.Pins, p.Override
	q.Target.Lacks, q.Target.Closing = p.Lacks, p.Closing
	if err == nil && res.Decision != resolver.NoSolution { // a refusal says why by itself
		res.Warnings = append(res.Warnings, p.Said...)
	}
	return res, err
}

// Steps is the draft that carries out what was chosen.
func (q Question) Steps(res *resolver.Resolution) (*plan.Plan, error) {
	p, err := installers.Plan(q.Matrix, q.seen(), q.request(), res, q.Target)
	return p, fail.Wrap(fail.Usage, err)
}

// seen is the machine as the target's environment will find it.
func (q Question) seen() machine.Machine {
	h := installers.WithDistributionPython(q.Matrix, q.Machine, q.Target)
	if q.Apart {
		h.Installed = nil
	}
	return h
}

// request is the request with torch's companions that are in the environment that is
// replaced: the new one has them too where they exist.
func (q Question) request() resolver.Request {
	r, t := Wished(q.Wish, q.Request), q.Target
	if t.Held == nil || t.Fresh && !t.InPlace {
		return r
	}
	r.Companions = xslices.Filter(text.Each(t.Held.Dists, func(d machine.HeldDist) string { return d.Name }), func(name string) bool {
		return slices.Contains(resolver.Companions(), name) && !slices.Contains(t.Drop, name)
	})
	return r
}
