// Package evidence is what the rules of the doctor look at and what they answer with:
// the facts of a case, with small readers of them by subject, and findings.
//
// A rule is a function of an [Evidence] that adds to [Findings]; it changes nothing else.
// The rooms of rules (internal/doctor/gpu, …/driver, …) import this package and no
// other room.
package evidence

import (
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
)

// An Evidence is one case, what is known of ailments, and who to ask for a choice.
// Rules read it alone.
type Evidence struct {
	*read.Case
	Knowledge *know.Knowledge
	Fit       Fit
}

// A Fit asks the resolver. Where it cannot tell (no matrix) it takes everything and
// names nothing.
type Fit struct {
	Any   func() bool                    // a build with code for the GPUs fits what is told of this machine
	Takes func(torch, label string) bool // this version and build fit there
	Here  func() Choice                  // for this machine as it is
}

// A Choice is what the resolver decides for a machine.
type Choice struct {
	Decision string // as the resolver calls it; "" it cannot say
	Build    string // "" none
}

// New is the evidence of a case: names of GPUs are looked up, and what Python showed
// stands in place of what files made likely. It completes the case itself.
func New(k *know.Knowledge, c *read.Case) *Evidence {
	e := &Evidence{Case: c, Knowledge: k}
	e.GPU().identify()
	e.Imports().believe()
	atStart(e)
	kernelSays(e)
	return e
}

// The readers, by subject.
type (
	GPU       struct{ *Evidence } // the GPUs of the machine
	Driver    struct{ *Evidence } // the driver, and the oldest that something needs
	Wanted    struct{ *Evidence } // what an installer was asked for
	Python    struct{ *Evidence } // the interpreter, and those that torch has wheels for
	Conda     struct{ *Evidence } // what conda installed, and its commands
	Repair    struct{ *Evidence } // what `doctor --fix` can do
	Pair      struct{ *Evidence } // torchvision and torchaudio beside torch
	Imports   struct{ *Evidence } // what Python says of torch
	Extension struct{ *Evidence } // compiled extensions
)

// The rooms ask by subject.
func (e *Evidence) GPU() GPU             { return GPU{e} }
func (e *Evidence) Driver() Driver       { return Driver{e} }
func (e *Evidence) Wanted() Wanted       { return Wanted{e} }
func (e *Evidence) Python() Python       { return Python{e} }
func (e *Evidence) Conda() Conda         { return Conda{e} }
func (e *Evidence) Repair() Repair       { return Repair{e} }
func (e *Evidence) Pair() Pair           { return Pair{e} }
func (e *Evidence) Imports() Imports     { return Imports{e} }
func (e *Evidence) Extension() Extension { return Extension{e} }

// Check is what is known of a check.
func (e *Evidence) Check(id string) *know.Check { return e.Knowledge.Checks[id] }
