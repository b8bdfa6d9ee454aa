package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/text"
)

// Options say how a plan is carried out. Its what is the plan alone.
type Options struct {
	Out     io.Writer     // what is being done
	Columns func() int    // Out is a terminal, and this is its width: progress in one line; nil: it is none
	Verbose bool          // the installers' own output as well
	Every   time.Duration // between the lines of progress where Out is no terminal; 0: 10 s
	Tools   string        // the directory of envfix's own tools, for {tools}
	Self    string        // envfix itself, for {envfix}

	Retries int                                        // of a step that the network failed; 0: 3, negative: none
	Stall   time.Duration                              // ends a program without progress; 0: 10 min, negative: never
	Wait    func(context.Context, time.Duration) error // between tries; nil: the time itself

	// Facts reads the machine again. Fresh says that the plan was made from it just
	// now, so that nothing need be compared.
	Facts func(context.Context) (machine.Machine, error)
	Fresh bool

	Root   Rooter // runs the steps for root; nil: there are no such rights
	Resume bool   // a person did what the plan waits for
	Boot   string // identifies this start of the machine; "" asks the kernel

	on host // of the system half; the zero value is this machine
}

// A Result is what an apply did.
type Result struct {
	Nothing    bool          // the plan was carried out before, or has no steps
	Generation string        // now in use; "" in place
	Before     string        // the generation in use before; "" none
	Own        time.Duration // what was spent outside of other programs
	Steps      []Took
	Imports    *Imports // nil: nothing was tried
}

// Took is how long a step took.
type Took struct {
	Step    string
	Time    time.Duration
	Foreign bool // another program ran
}

// A run is one plan under way.
type run struct {
	Options
	env     *Env
	journal *journal
	plan    *plan.Plan
	gen     Generation
	result  Result
	foreign time.Duration // in which other programs ran
	imports bool          // what the project imports is being tried
	screen  *screen

	flushing <-chan error // the flush that runs beside a step; nil: none
}

// Apply carries p out on e. Its error is an *fail.Error; then the environment is as
// it was before, unless the plan works in place.
func (e *Env) Apply(ctx context.Context, p *plan.Plan, o Options) (Result, error) {
	start := time.Now()
	o.Retries = max(cmp.Or(o.Retries, netRetries), 0)
	o.Stall = max(cmp.Or(o.Stall, 10*time.Minute), 0)
	r := &run{Options: o, env: e, plan: p, screen: &screen{out: o.Out, columns: o.Columns}}
	err := r.locked(ctx)
	r.result.Own = time.Since(start) - r.foreign
	return r.result, Wrap(err)
}

func (r *run) locked(ctx context.Context) (err error) {
	if err := Check(r.plan); err != nil {
		return err
	}
	system.Umask()
	j, end, err := r.env.begin()
	defer func() { err = errors.Join(err, end()) }()
	if err != nil {
		return err
	}
	r.journal = j
	r.journal.boot = cmp.Or(r.Boot, r.journal.boot)
	said, err := r.env.recover(r.journal)
	for _, s := range said {
		r.say("%s", s)
	}
	if err != nil {
		return err
	}
	if r.carriedOut() {
		r.result = Result{Nothing: true, Generation: r.env.Current()}
		return r.env.wishes(r.plan.Wish)
	}
	checks := []func() error{r.other, r.mayRoot}
	if open := r.journal.unfinished(r.env.Name); open == nil {
		checks = append(checks, func() error { return r.stale(ctx) }, r.firstByHand)
	}
	return inOrder(append(checks, func() error { return r.preflight(ctx) }, func() error { return r.carryOut(ctx) })...)
}

func (r *run) say(format string, args ...any) {
	r.screen.print(text.Printable(fmt.Sprintf(format, args...)))
}

// carriedOut reports whether there is nothing to do: no steps, or the
// environment in use was made by this very plan.
func (r *run) carriedOut() bool {
	if len(r.plan.Steps) == 0 {
		return true
	}
	gens, err := r.env.generations()
	if err != nil {
		return false
	}
	current := r.env.Current()
	return current != "" && slices.ContainsFunc(gens, func(g Generation) bool { return g.ID == current && g.Plan == r.plan.ID })
}

// carryOut runs the steps between the journal's begin and end.
func (r *run) carryOut(ctx context.Context) error {
	if err := r.begin(); err != nil {
		return err
	}
	for i := 0; i < len(r.plan.Steps); i++ {
		at, err := i, error(nil)
		if beside(r.plan.Steps, i) {
			at, err = r.bothAtOnce(ctx, i)
			i++
		} else {
			err = r.step(ctx, i)
		}
		if err != nil {
			return r.giveUp(at, errors.Join(err, r.flushed()))
		}
	}
	if err := system.Point("end:before-intent"); err != nil {
		return r.giveUp(len(r.plan.Steps)-1, err)
	}
	return inOrder(func() error { return r.record(Entry{State: End}) }, r.collect)
}

// begin chooses the generation and writes the plan down, so that --resume has it.
func (r *run) begin() error {
	gens, err := r.env.everyGeneration()
	if err != nil {
		return err
	}
	order := 2
	for _, g := range gens {
		order = max(order, g.Order+2)
	}
	short := strings.TrimPrefix(r.plan.ID, "sha256:")
	short = short[:min(12, len(short))]
	id := func() string { return fmt.Sprintf("%s-%d", short, order/2) }
	for r.env.taken(id()) { // by one that was cut off and that a process still uses
		order += 2
	}
	installs := r.plan.Installs()
	r.gen = Generation{ID: id(), Env: r.env.Name, Order: order, Plan: r.plan.ID,
		Torch: installs.Torch, Python: installs.Python, Packages: installs.Packages, Wish: r.plan.Wish}
	r.result.Before = r.env.Current()
	b, err := plan.Encode(r.plan)
	if err != nil {
		return err
	}
	return inOrder(
		func() error { return system.WriteIn(r.env.root, planPath(r.plan.ID), b, 0o600) },
		point("begin:before-record"),
		func() error { return r.record(Entry{State: Begin, Note: r.summary()}) })
}

// inOrder does one thing after the other, and none after one that fails.
func inOrder(do ...func() error) error {
	for _, f := range do {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// point is where a fault can be injected.
func point(name string) func() error { return func() error { return system.Point(name) } }

func planPath(id string) string {
	return plansDir + "/" + filepath.Base(strings.TrimPrefix(id, "sha256:")) + ".json"
}

// summary names what the plan installs, for history.
func (r *run) summary() string {
	what := string(r.plan.Decision)
	if c := r.plan.Installs(); c.Torch != "" && slices.ContainsFunc(r.plan.Steps, func(s plan.Step) bool { return s.Verify != nil }) {
		what = strings.TrimSpace("torch " + c.Torch + " " + c.Build)
		if slices.ContainsFunc(r.plan.Steps, installsDriver) {
			what = "the driver, " + what
		}
	}
	if r.plan.Target.Manager != "" {
		what += " with " + r.plan.Target.Manager
	}
	changed := func(how string, names []string) string { return say.With(", "+how+" ", strings.Join(names, " "), "") }
	return text.Printable(what + changed("added", r.plan.Target.Adds) + changed("removed", r.plan.Target.Removes))
}

func (r *run) record(e Entry) error {
	e.Plan, e.Env = r.plan.ID, r.env.Name
	if !r.inPlace() {
		e.Gen = r.gen.ID
	}
	return r.journal.add(e)
}

// giveUp ends a plan whose step i failed: what was built aside is removed, and
// the environment that was there stays.
func (r *run) giveUp(i int, cause error) error {
	cause = Wrap(cause)
	var e *fail.Error
	errors.As(cause, &e)
	if e.Code == fail.Failed && len(e.Hints) == 0 { // our own: an installer's has its hints
		e.Text = r.plan.Steps[i].Title + ": " + e.Text
		e.Hints = []string{"mend what it names, then run the command again"}
	}
	if e.Code == fail.Reboot || e.Code == fail.Privilege {
		return errors.Join(cause, r.record(Entry{State: Waiting, Step: r.plan.Steps[i].ID, Note: text.Printable(e.Text)}))
	}
	err := r.record(Entry{State: Failure, Step: r.plan.Steps[i].ID, Note: text.Printable(e.Text)})
	if !r.inPlace() && r.env.Current() != r.gen.ID {
		err = errors.Join(err, r.env.forget(r.gen.ID))
	}
	if err != nil { // the next run cleans up
		e.Details = append(e.Details, "cleaning up: "+err.Error())
	}
	tellState(e, r, slices.ContainsFunc(r.plan.Steps[:i+1], func(s plan.Step) bool { return !s.Root && s.Verify == nil }))
	return cause
}

// tellState adds to an error how the environment is left, which some step has touched or not.
func tellState(e *fail.Error, r *run, touched bool) {
	switch {
	case r.inPlace() && touched:
		e.Hints = append(e.Hints, fmt.Sprintf("%s was being changed in place and may be incomplete: run the command again", r.env.Dir))
	case e.Code == fail.Interrupted && r.inPlace(): // not touched yet
	case e.Code == fail.Interrupted && r.env.Current() == r.gen.ID:
		e.Details = append(e.Details, r.env.Dir+" is the new environment already")
	case e.Code == fail.Interrupted:
		_, err := os.Lstat(r.env.Dir)
		is := say.Either(gone(err), " is not there yet", " is as it was before")
		e.Details = append(e.Details, r.env.Dir+is+"; the same command begins anew, with what was fetched so far")
	}
}

// inPlace reports whether the plan changes the environment itself.
func (r *run) inPlace() bool {
	return r.plan.Target.InPlace || !slices.ContainsFunc(r.plan.Steps, func(s plan.Step) bool { return s.Switch != nil })
}

// gone reports whether err says that a file does not exist.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
