package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"envfix/internal/apply"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func applyCommand() *cli.Command {
	return &cli.Command{
		Name:      "apply",
		Usage:     "carry a plan out: its own, after showing it and asking, or a saved one",
		ArgsUsage: "[PLANFILE] [REQUIREMENT…]",
		Description: `Builds the new environment beside the old one, has it prove itself, and makes it
the one in use by one rename. Whatever ends envfix on the way, the old environment
or the new one is there; running it again finishes the work.

The packages that the old environment holds besides are carried over; the plan
says which cannot be. --drop NAME leaves one out, --fresh all of them.

An argument that ends in .json is a plan that "envfix plan --out" wrote: it is
refused where the machine has changed since.

EXAMPLES
  envfix apply
  envfix apply --yes 'torch==2.9.*' torchvision
  envfix plan --out plan.json && envfix apply plan.json
  envfix apply --drop xformers
  envfix apply --resume
  envfix rollback

EXIT STATUS
  0    done, or nothing to do
  1    a step failed; the old environment is in use
  2    usage, or no terminal to ask on and no --yes
  3    no compatible combination
  5    the plan is stale
  6    more privilege is needed
  7    the rest comes after a reboot
  8    another apply, or the package manager, is at work
  9    no space, or a place that cannot be written
  10   a hash, a plan or the journal is not what it should be
  11   the new environment does not prove itself
  130  interrupted`,
		Flags: append(append([]cli.Flag{
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
			&cli.BoolFlag{Name: "resume", Usage: "go on with the plan that was begun and not ended"},
			&cli.BoolFlag{Name: "abandon", Usage: "give up the plan that was begun and not ended"},
			&cli.BoolFlag{Name: "json", Usage: "print what was done as JSON"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "print every reason and package, each command and the installers' own output"},
			&cli.IntFlag{Name: "retries", Value: 3, Usage: "try a step that the network failed `N` times again"},
			&cli.DurationFlag{Name: "stall", Value: 10 * time.Minute, Usage: "end a program that makes no progress for `TIME`; 0: never"},
		}, requestFlags()...), slices.Concat(carryFlags(), describeFlags(), lockFlags())...),
		Action: applyAction,
	}
}

func applyAction(c *cli.Context) error {
	if did, err := asInvoker(); did {
		return err
	}
	if c.Bool("abandon") {
		return abandon(c)
	}
	p, saved, err := planToApply(c)
	if err != nil || p == nil {
		return err
	}
	if refused := refusal(p); refused != nil {
		return refused
	}
	show := io.Writer(os.Stdout)
	if c.Bool("json") {
		show = os.Stderr
	}
	look := style(show)
	look.Verbose = c.Bool("verbose")
	if _, err := io.WriteString(show, ui.Plan(p, look)); err != nil {
		return err
	}
	if err := consent(c, p); err != nil {
		return err
	}
	return carryOut(c, p, saved)
}

// planToApply returns the plan and whether it was made earlier. The plan is nil
// where there is nothing to resume.
func planToApply(c *cli.Context) (*plan.Plan, bool, error) {
	args := c.Args().Slice()
	files := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return !strings.HasSuffix(a, ".json") })
	switch {
	case c.Bool("resume"):
		if len(args) > 0 {
			return nil, false, &failure{code: exitUsage, text: "`--resume` goes on with the plan that was begun; it takes no arguments"}
		}
		p, err := unfinished(c)
		return p, true, err
	case len(files) == 0:
		p, err := makePlan(c)
		return p, false, err
	case len(args) > 1:
		return nil, false, &failure{code: exitUsage, text: "a plan file says all there is to do; it takes no further arguments",
			hints: []string{fmt.Sprintf("`envfix apply %s`", ui.Clean(files[0]))}}
	}
	for _, f := range slices.Concat(requestFlags(), carryFlags(), describeFlags()) {
		if name := f.Names()[0]; c.IsSet(name) {
			return nil, false, &failure{code: exitUsage, text: fmt.Sprintf("`--%s` is a wish, and the plan file is made already", name),
				hints: []string{fmt.Sprintf("`envfix plan --%s … --out FILE` makes a plan with it", name)}}
		}
	}
	p, err := readPlan(files[0])
	return p, true, err
}

// readPlan reads a saved plan, which is run as it stands: so it must be the
// user's own and whole.
func readPlan(path string) (*plan.Plan, error) {
	bad := func(code int, err error) (*plan.Plan, error) {
		return nil, &failure{code: code, err: err, text: fmt.Sprintf("plan %s: %s", ui.Clean(path), reason(err)),
			hints: []string{"`envfix plan --out FILE` writes a plan"}}
	}
	b, err := system.ReadOwn(path, plan.MaxBytes)
	if err != nil {
		return bad(exitUsage, err)
	}
	p, err := plan.Decode(b)
	if errors.Is(err, plan.ErrChanged) {
		return bad(exitIntegrity, err)
	}
	if err != nil {
		return bad(exitUsage, err)
	}
	return p, nil
}

// unfinished returns the plan to resume, nil where there is none.
func unfinished(c *cli.Context) (*plan.Plan, error) {
	e, err := apply.Open(c.String("env"))
	if err != nil {
		return nil, fromApply(err)
	}
	defer e.Close()
	p, err := e.Unfinished()
	if err == nil && p == nil {
		fmt.Fprintln(os.Stderr, "envfix: nothing was left unfinished")
	}
	return p, fromApply(err)
}

func abandon(c *cli.Context) error {
	e, err := apply.Open(c.String("env"))
	if err != nil {
		return fromApply(err)
	}
	defer e.Close()
	did, err := e.Abandon()
	if err != nil {
		return fromApply(err)
	}
	if did {
		fmt.Fprintln(os.Stderr, "envfix: the unfinished plan is given up; what it had changed in the system stays")
	} else {
		fmt.Fprintln(os.Stderr, "envfix: there was nothing to give up")
	}
	return nil
}

// consent asks whether the plan that was shown may be carried out.
func consent(c *cli.Context, p *plan.Plan) error {
	if c.Bool("yes") || len(p.Steps) == 0 {
		return nil
	}
	if !isTerminal(os.Stdin) || !isTerminal(os.Stderr) {
		return &failure{code: exitUsage, text: "there is no terminal to ask on",
			hints: []string{"`envfix apply --yes` does not ask"}}
	}
	fmt.Fprintf(os.Stderr, "carry out %s? [y/N] ", count(len(p.Steps), "step"))
	answer := make(chan string, 1)
	go func() {
		b := make([]byte, 64)
		n, _ := os.Stdin.Read(b) // the end of the input is a no
		answer <- strings.ToLower(strings.TrimSpace(string(b[:n])))
	}()
	select {
	case <-c.Context.Done():
		fmt.Fprintln(os.Stderr)
		return c.Context.Err()
	case a := <-answer:
		if a == "y" || a == "yes" {
			return nil
		}
	}
	return &failure{code: exitInterrupted, text: "not carried out; nothing was changed"}
}

// carryOut applies p and says what came of it.
func carryOut(c *cli.Context, p *plan.Plan, saved bool) error {
	r, err := perform(c, p, saved)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return applyJSON(os.Stdout, p, r)
	}
	dir := ui.Clean(targetDir(c, p))
	switch {
	case r.Nothing:
		fmt.Fprintf(os.Stderr, "envfix: nothing to do: %s is what the plan makes of it\n", dir)
	case r.Before != "" || r.Generation != "":
		fmt.Fprint(os.Stderr, ready(dir, r.Before != ""))
	default:
		fmt.Fprintf(os.Stderr, "envfix: done\n")
	}
	return nil
}

// ready says how a new environment is put into use, and how back, where there was
// another before it.
func ready(dir string, before bool) string {
	text := fmt.Sprintf("envfix: %s is ready: `. %s/bin/activate` puts it into use", dir, dir)
	if runtime.GOOS == "windows" {
		text = fmt.Sprintf("envfix: %s is ready: `%s\\Scripts\\activate` puts it into use", dir, dir)
	}
	if before {
		text += "; `envfix rollback` goes back"
	}
	return text + "\n"
}

func targetDir(c *cli.Context, p *plan.Plan) string { return cmp.Or(p.Target.Dir, c.String("env")) }

// perform applies p and says nothing but its progress.
func perform(c *cli.Context, p *plan.Plan, saved bool) (apply.Result, error) {
	if err := sameSystem(p); err != nil {
		return apply.Result{}, err
	}
	dir := targetDir(c, p)
	if err := apply.MakeParent(dir); err != nil {
		return apply.Result{}, fromApply(err)
	}
	e, err := apply.Open(dir)
	if err != nil {
		return apply.Result{}, fromApply(err)
	}
	defer e.Close()
	o := apply.Options{Out: os.Stderr, Verbose: c.Bool("verbose"), Tools: toolsDir(), Resume: c.Bool("resume"),
		Retries: orNever(c.Int("retries")), Stall: orNever(c.Duration("stall"))}
	if isTerminal(os.Stderr) && os.Getenv("TERM") != "dumb" {
		o.Columns = func() int { return columns(os.Stderr) }
	}
	if slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Root }) {
		o.Root = rooter(c.Context)
	}
	o.Facts = func(context.Context) (machine.Machine, error) { return machineWith(c, dir), nil }
	o.Fresh = !saved
	ctx, stop := untilHangup(c.Context)
	defer stop()
	r, err := e.Apply(ctx, p, o)
	return r, fromApply(err)
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
	if n <= 0 {
		return -1
	}
	return n
}

func applyJSON(w io.Writer, p *plan.Plan, r apply.Result) error {
	type took struct {
		ID      string  `json:"id"`
		Seconds float64 `json:"seconds"`
	}
	answer := struct {
		Format     int     `json:"format"`
		Plan       string  `json:"plan"`
		Nothing    bool    `json:"nothing"`
		Generation string  `json:"generation,omitempty"`
		Before     string  `json:"before,omitempty"`
		Own        float64 `json:"own_seconds"`
		Steps      []took  `json:"steps"`
	}{1, p.ID, r.Nothing, r.Generation, r.Before, r.Own.Seconds(), []took{}}
	for _, t := range r.Steps {
		answer.Steps = append(answer.Steps, took{t.Step, t.Time.Seconds()})
	}
	return writeJSON(w, answer)
}

// stateDir is envfix's directory of state: below XDG_STATE_HOME, or ~/.local/state.
// Programs in it are run, so without HOME it is the home of the user database, and
// never one below /tmp.
func stateDir() string {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			home = "/" // root's to write, where nobody knows who we are
			if u, err := user.Current(); err == nil {
				home = u.HomeDir
			}
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "envfix")
}

// toolsDir is where envfix keeps tools of its own, such as uv.
func toolsDir() string { return filepath.Join(stateDir(), "tools") }

var applyCodes = map[apply.Kind]int{
	apply.Failed: exitFailed, apply.BadPlan: exitUsage, apply.Stale: exitStale, apply.Privilege: exitPrivilege,
	apply.Reboot: exitReboot, apply.Busy: exitBusy, apply.Preflight: exitPreflight, apply.Integrity: exitIntegrity,
	apply.Verification: exitVerify, apply.Interrupted: exitInterrupted,
}

// fromApply gives an error of package apply its exit code.
func fromApply(err error) error {
	var e *apply.Error
	if !errors.As(err, &e) {
		return err
	}
	return &failure{code: applyCodes[e.Kind], text: ui.Clean(e.Text), details: e.Details, hints: e.Hints, script: e.Script, err: e}
}

// sameSystem refuses a plan for another operating system or architecture, also
// where the machine was described: its programs do not run here.
func sameSystem(p *plan.Plan) error {
	system, arch := machine.NormalPlatform(runtime.GOOS, runtime.GOARCH)
	want := p.Basis.Facts.Platform
	if len(p.Steps) == 0 || want.OS == system && want.Arch == arch {
		return nil
	}
	return &failure{code: exitStale, text: fmt.Sprintf("this plan is for %s %s, and this machine is %s %s", ui.Clean(want.OS), ui.Clean(want.Arch), system, arch),
		hints: []string{"`envfix plan --out FILE` writes it; run `envfix apply FILE` there"}}
}
