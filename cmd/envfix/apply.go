package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"envfix/internal/apply"
	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func applyCommand() *cli.Command {
	return declared("apply", applyAction)
}

// applyFlags say what is carried out, and how.
type applyFlags struct {
	made          planFlags // what the plan is made from, where it is made now
	wished        string    // a flag that a plan made earlier cannot follow any more; "" none
	env           string
	yes           bool
	elsewhere     bool // a plan that was not made here is agreed to
	resume        bool
	builds        []string // NAME==VERSION that may be built: their code runs
	json, verbose bool
	retries       int
	stall         time.Duration
}

func applyOf(c *cli.Context) (applyFlags, error) {
	f := applyFlags{
		env:       placeOf(c).ForPlan().Dir,
		yes:       c.Bool("yes"),
		elsewhere: c.Bool("made-elsewhere"),
		resume:    c.Bool("resume"),
		builds:    c.StringSlice("allow-build"),
		json:      c.Bool("json"),
		verbose:   c.Bool("verbose"),
		retries:   c.Int("retries"),
		stall:     c.Duration("stall"),
	}
	for _, flag := range sharing("a wish", "what is carried over", "another machine") {
		if name := flag.Names()[0]; f.wished == "" && c.IsSet(name) {
			f.wished = name
		}
	}
	var err error
	if f.made, err = planOf(c, carriesOut); err == nil && !f.resume {
		f.made = f.made.withKernel()
	}
	return f, err
}

func applyAction(c *cli.Context) error { return apply.StateOf(applyRounds(c), false) }

func applyRounds(c *cli.Context) error {
	if did, err := asInvoker(); did {
		return err
	}
	dry := c.Bool("dry-run")
	if does := firstSet(c, "abandon", "json"); dry && does != "" {
		return fail.Wrong("`--"+does+"` is about what is done, and a dry run does nothing", "`envfix plan --json` prints the plan")
	}
	if c.Bool("abandon") {
		return abandon(placeOf(c).ForPlan().Dir)
	}
	f, err := applyOf(c)
	if err != nil {
		return err
	}
	if dry {
		p, _, err := f.plan(c.Context)
		if err != nil || p == nil {
			return err
		}
		return planView{verbose: f.verbose, args: nextArgs(sameWish(os.Args), p), kernel: f.made.kernel}.show(c.App.Writer, p)
	}
	return f.rounds(c.Context)
}

// rounds carries out a plan, and what is planned after a first part of it.
func (f applyFlags) rounds(ctx context.Context) error {
	p, saved, err := f.plan(ctx)
	for rounds := 1; err == nil && p != nil; rounds++ {
		if err := f.oneRound(ctx, p, saved); err != nil || !p.Partial || f.resume || rounds == mostRounds {
			return err
		}
		p, err = f.made.make(ctx)
		saved = false
	}
	return err
}

// mostRounds is how often a plan may begin with what the rest depends on.
const mostRounds = 3

// oneRound shows a plan, asks and carries it out.
func (f applyFlags) oneRound(ctx context.Context, p *plan.Plan, saved bool) error {
	if refused := refusal(p); refused != nil {
		return refused
	}
	foreign := saved && !f.resume && !apply.MadeHere(p.ID)
	f.verbose = f.verbose || foreign // somebody else's plan is shown whole
	if err := f.show(p); err != nil {
		return err
	}
	if p.Waits() {
		return &fail.Error{Code: fail.NoSolution, Text: "nothing was done: this needs another driver",
			Hints: []string{"`envfix plan --change-driver` with the same words plans that"}}
	}
	if foreign {
		if err := f.warnForeign(p); err != nil {
			return err
		}
	}
	whole := func() error { g := f; g.verbose = true; return g.show(p) }
	if f.verbose {
		whole = nil
	}
	if err := f.consentToBuild(p, foreign); err != nil {
		return err
	}
	if err := consent(ctx, f.yes, p, whole); err != nil {
		return err
	}
	if err := f.wayOut(ctx, p, saved, f.carryOut(ctx, p, saved)); err != nil || f.made.kernel == "" || p.Partial {
		return err
	}
	return apply.Register(ctx, f.dir(p), f.made.kernel, stderr())
}

// show prints the plan where the answer in JSON leaves room for it.
func (f applyFlags) show(p *plan.Plan) error {
	w := say.Either(f.json, stderr(), stdout())
	look := style(w)
	look.Verbose = f.verbose
	_, err := io.WriteString(w, ui.Plan(p, look)+ui.KernelText(p, f.dir(p), f.made.kernel))
	return err
}

// consent asks whether the plan that was shown may be carried out. whole shows all of
// it, where that was not done; nil: it was.
func consent(ctx context.Context, yes bool, p *plan.Plan, whole func() error) error {
	if yes || len(p.Steps) == 0 {
		return nil
	}
	if !canAsk() {
		return fail.Wrong("there is no terminal to ask on", "`"+again("--yes")+"` does not ask")
	}
	question := "apply? [y/N]" + say.If(whole != nil, " (v shows every step)")
	a, err := ask(ctx, question+" ")
	for ; err == nil && a == "v" && whole != nil; a, err = ask(ctx, "apply? [y/N] ") {
		if err := whole(); err != nil {
			return err
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &fail.Error{Code: fail.Interrupted, Text: "interrupted; nothing was changed", Err: err}
	case err != nil || a == "y" || a == "yes":
		return err
	}
	return fail.New(fail.Interrupted, "not carried out; nothing was changed")
}

// canAsk reports whether somebody is there to answer.
func canAsk() bool { return isTerminal(os.Stdin) && isTerminal(stderr()) }

// ask puts a question on the terminal and returns the answer in small letters; the end
// of the input is an empty one.
func ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(stderr(), question)
	answer := make(chan string, 1)
	go func() {
		b := make([]byte, 64)
		n, _ := os.Stdin.Read(b)
		if n == 0 { // the end of the input ends no line
			fmt.Fprintln(stderr())
		}
		answer <- strings.ToLower(strings.TrimSpace(string(b[:n])))
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(stderr())
		return "", ctx.Err()
	case a := <-answer:
		return a, nil
	}
}

// consentToBuild refuses a plan that builds what nobody agreed to: to build a package runs
// its code, and the isolation of builds is no sandbox. A later release asks again, since
// its version is part of the consent. Of a plan that was not made here its steps count.
func (f applyFlags) consentToBuild(p *plan.Plan, foreign bool) error {
	built := built(p)
	if foreign {
		built = slices.Compact(slices.Sorted(slices.Values(append(built, apply.Built(p)...))))
	}
	missing := slices.DeleteFunc(built, func(pinned string) bool { return slices.Contains(f.builds, pinned) })
	if len(missing) == 0 || len(p.Steps) == 0 {
		return nil
	}
	agrees := agreement(missing)
	return &fail.Error{Code: fail.Pending, Text: "to install this, packages without a wheel or of a repository must be built: " + ui.Clean(strings.Join(missing, ", ")),
		Details: []string{"building runs a package's own code as you; that it is built apart is no sandbox", "nothing was changed"},
		Hints:   []string{"`" + again(agrees...) + "` agrees to these versions"}}
}

// built are what a plan builds, each as --allow-build names it.
func built(p *plan.Plan) []string {
	places := text.Each(p.Target.Places, func(place string) string {
		address, _, _ := strings.Cut(place[strings.Index(place, "git+"):], " ;")
		return address
	})
	return slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(p.Target.Build), places...))))
}

// agreement are the flags that agree to what is built.
func agreement(built []string) (flags []string) {
	for _, pinned := range built {
		flags = append(flags, "--allow-build", pinned)
	}
	return flags
}
