package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"envfix/internal/apply"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/place"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/text"
	"envfix/internal/ui"
)

// carryOut applies p and says what came of it.
func (f applyFlags) carryOut(ctx context.Context, p *plan.Plan, saved bool) error {
	r, err := f.perform(ctx, p, saved)
	if err != nil {
		return apply.StateOf(err, apply.Begun(p, r))
	}
	if f.json {
		return writeJSON(stdout(), apply.AnswerOf(p, r))
	}
	dir := f.dir(p)
	manager, _ := managers.Find(p.Target.Manager)
	switch {
	case r.Nothing:
		fmt.Fprintf(stderr(), "envfix: nothing to do: %s is what the plan makes of it\n", ui.Clean(dir))
	case r.Before != "" || r.Generation != "":
		fmt.Fprint(stderr(), place.Ready(dir, r.Before != "", r.Imports.Short()))
		f.further(ctx, p, r.Imports)
	case p.Partial && f.resume:
		fmt.Fprintf(stderr(), "envfix: the first part is done, and torch is not installed yet: %s plans the rest, shows it and asks\n", restOf(p))
	case p.Partial:
		fmt.Fprintf(stderr(), "envfix: done; now the rest, which depends on it\n\n")
	case manager.Sync != "":
		fmt.Fprintf(stderr(), "envfix: the project asks for it now, and nothing is installed yet: `%s` does that\n", manager.Sync)
	default:
		fmt.Fprintf(stderr(), "envfix: done\n")
	}
	return nil
}

// further names the one command after which more of what the project imports is there.
func (f applyFlags) further(ctx context.Context, p *plan.Plan, i *apply.Imports) {
	var why, flags []string
	if !p.Target.Closure && i.Lacks() {
		why, flags = append(why, "its sources import what is not there"), append(flags, "--closure")
	}
	if day := f.made.then(ctx, matrixFor()); day != "" && i.Disagree() {
		why, flags = append(why, "packages of today do not go together here"), append(flags, "--as-of", day)
	}
	if more := i.Wants(); len(why) == 0 && len(more) > 0 && f.made.wish.Dir == "." && f.env == place.Default {
		add := text.Command(append([]string{"envfix", "add"}, more...)...)
		fmt.Fprintf(stderr(), "envfix: what its sources import needs more: `%s` brings it\n", ui.Clean(add))
	}
	if len(why) > 0 {
		fmt.Fprintf(stderr(), "envfix: %s: `%s` installs them%s\n", strings.Join(why, "; "), again(flags...), say.If(slices.Contains(flags, "--as-of"), " as of its last commit"))
	}
}

// dir is the environment that p is for.
func (f applyFlags) dir(p *plan.Plan) string { return cmp.Or(p.Target.Dir, f.env) }

// perform applies p and says nothing but its progress.
func (f applyFlags) perform(ctx context.Context, p *plan.Plan, saved bool) (apply.Result, error) {
	if err := sameSystem(p, ""); err != nil {
		return apply.Result{}, err
	}
	dir := f.dir(p)
	if err := apply.MakeParent(dir); err != nil {
		return apply.Result{}, err
	}
	e, err := apply.Open(dir)
	if err != nil {
		return apply.Result{}, err
	}
	defer e.Close()
	o := apply.Options{Out: stderr(), Verbose: f.verbose, Tools: system.ToolsDir(), Resume: f.resume,
		Retries: orNever(f.retries), Stall: orNever(f.stall)}
	if o.Self, err = os.Executable(); err != nil {
		return apply.Result{}, err
	}
	if isTerminal(stderr()) && os.Getenv("TERM") != "dumb" {
		o.Columns = func() int { return columns(stderr()) }
	}
	if slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Root }) {
		o.Root = rooter(ctx)
	}
	o.Facts = func(ctx context.Context) (machine.Machine, error) { return thisMachine(ctx, dir, false), nil }
	o.Fresh = !saved
	ctx, stop := untilHangup(ctx)
	defer stop()
	return e.Apply(ctx, p, o)
}

// untilHangup ends ctx also when the terminal goes away, as where ssh loses its
// connection. Unheard, it would end envfix at once, and a package manager that then
// writes into nobody's pipe with it, in the middle of its work.
func untilHangup(ctx context.Context) (context.Context, context.CancelFunc) {
	if signal.Ignored(syscall.SIGHUP) { // nohup
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, syscall.SIGHUP)
}

// orNever makes of a flag's 0 what package apply calls never; its own 0 is the
// usual value.
func orNever[N ~int | ~int64](n N) N {
	return say.Either(n > 0, n, -1)
}

// sameSystem refuses a plan for another operating system or architecture, also
// where the machine was described: its programs do not run here. Apply asks it before a
// plan is judged and shown. file is where the plan was saved; "" it was made now.
func sameSystem(p *plan.Plan, file string) error {
	system, arch := machine.NormalPlatform(runtime.GOOS, runtime.GOARCH)
	want := p.Basis.Facts.Platform
	if len(p.Steps) == 0 || want.OS == system && want.Arch == arch {
		return nil
	}
	return fail.New(fail.Stale, fmt.Sprintf("this plan is for %s %s, and this machine is %s %s", ui.Clean(want.OS), ui.Clean(want.Arch), system, arch),
		say.Either(file == "", fmt.Sprintf("`%s` writes it; run `envfix apply plan.json` there", ui.Clean(planInstead())),
			fmt.Sprintf("run `envfix apply %s` there", ui.Clean(file))),
		"`envfix plan` makes one for this machine")
}

// planInstead is this call of `envfix apply` as one of plan that writes a file.
func planInstead() string {
	args, _ := lessFlags(sameWish(os.Args), "--allow-build", "--retries", "--stall")
	args = slices.DeleteFunc(args, func(a string) bool { return a == "--json" || a == "--made-elsewhere" })
	return text.Command(slices.Concat([]string{"envfix", "plan"}, args, []string{"--out", "plan.json"})...)
}

// plan returns the plan and whether it was made earlier. The plan is nil
// where there is nothing to resume.
func (f applyFlags) plan(ctx context.Context) (*plan.Plan, bool, error) {
	args := f.made.wish.Arguments
	files := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return !strings.HasSuffix(a, ".json") })
	switch {
	case f.resume:
		if len(args) > 0 {
			return nil, false, fail.Wrong("`--resume` goes on with the plan that was begun; it takes no arguments")
		}
		p, err := unfinished(f.env)
		return p, true, err
	case len(files) == 0:
		p, err := f.made.make(ctx)
		if err == nil {
			err = sameSystem(p, "")
		}
		return p, false, err
	case len(args) > 1:
		return nil, false, fail.Wrong("a plan file says all there is to do; it takes no further arguments",
			fmt.Sprintf("`envfix apply %s`", ui.Clean(files[0])))
	}
	p, filled, err := apply.ReadPlan(files[0], tokens())
	if f.wished == "mirror" && filled {
		f.wished = ""
	}
	if f.wished != "" {
		return nil, false, fail.Wrong(fmt.Sprintf("`--%s` is a wish, and the plan file is made already", f.wished),
			fmt.Sprintf("`envfix plan --%s … --out FILE` makes a plan with it", f.wished))
	}
	if err == nil {
		err = sameSystem(p, files[0])
	}
	if err == nil {
		err = apply.CheckUser(p, system.HomeDir(), apply.InstallerHere(apply.MadeHere(p.ID)))
	}
	return p, true, err
}

// unfinished returns the plan to resume, nil where there is none.
func unfinished(env string) (p *plan.Plan, err error) {
	err = apply.Opened(env, func(e *apply.Env) (err error) { p, err = e.Unfinished(); return err })
	if err == nil && p == nil {
		fmt.Fprintln(stderr(), "envfix: nothing was left unfinished")
	}
	return p, err
}

func abandon(env string) error {
	return apply.Opened(env, func(e *apply.Env) error {
		did, err := e.Abandon()
		switch {
		case did && err == nil:
			fmt.Fprintln(stderr(), "envfix: the unfinished plan is given up; what it had changed in the system stays")
		case err == nil:
			fmt.Fprintln(stderr(), "envfix: there was nothing to give up")
		}
		return err
	})
}

// warnForeign says that a plan is somebody else's text, shows what it writes, and
// wants more than --yes.
func (f applyFlags) warnForeign(p *plan.Plan) error {
	fmt.Fprint(stderr(), "envfix: warning: this plan was not made here; what it installs runs as you\n")
	if err := ui.WriteContents(stderr(), p); err != nil {
		return err
	}
	if f.yes && !f.elsewhere {
		return fail.Wrong("this plan was not made here, and `--yes` alone does not agree to it",
			"`envfix plan` makes a plan here", "`--made-elsewhere` with `--yes` agrees to this one, if you have read it")
	}
	return nil
}
