package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"envfix/internal/apply"
	"envfix/internal/browser"
	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/place"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/internal/xslices"
	"envfix/resolver"

	"github.com/urfave/cli/v2"
)

func planCommand() *cli.Command {
	return declared("plan", planAction)
}

// planView says in which form a plan is printed.
type planView struct {
	json, sh, ps1, verbose bool
	args                   []string // for the command that is named as the next one
	here                   []string // for the one that makes the plan of a described machine come true on this one; nil none
	kernel                 string   // the name for Jupyter; "" none
	file                   string   // the script is written to it; "" it is printed
}

func planAction(c *cli.Context) error {
	view := planView{json: c.Bool("json"), sh: c.Bool("sh"), ps1: c.Bool("ps1"), verbose: c.Bool("verbose"), args: sameWish(os.Args)}
	if forms := xslices.Filter([]string{"json", "sh", "ps1", "open"}, c.Bool); len(forms) > 1 {
		return fail.Wrong("`--"+strings.Join(forms, "` and `--")+"` exclude each other", "drop all but one of them")
	}
	f, err := planOf(c, shows)
	if err != nil {
		return err
	}
	f, view.kernel = f.withKernel(), f.kernel
	p, err := f.make(c.Context)
	if err != nil {
		return err
	}
	if path := c.String("out"); view.sh || view.ps1 {
		view.file = path
	} else if path != "" {
		apply.NoteMade(p.ID)
		b, err := plan.Encode(p)
		if err := cmp.Or(err, writeOut(path, b, 0o600)); err != nil {
			return err
		}
	}
	if c.Bool("open") {
		why, err := browser.Open(c.Context, f.wish, p, c.App.Writer)
		if why != "" {
			fmt.Fprintf(stderr(), "envfix: %s: open the address above in a browser\n", why)
		}
		return err
	}
	view.here, view.args = hereArgs(view.args, p), nextArgs(view.args, p)
	if err := view.show(c.App.Writer, p); err != nil {
		return err
	}
	if c.Bool("exit-code") && (len(p.Steps) > 0 || p.Waits()) {
		return &fail.Error{Code: fail.Pending}
	}
	return nil
}

// show prints the plan in the form that was asked for. A refusal is an error; with
// --json it is a plan object like any other, and its exit code alone says it.
func (v planView) show(w io.Writer, p *plan.Plan) error {
	refused := refusal(p)
	switch {
	case v.json:
		b, err := plan.Encode(p)
		if err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		warnHidden(string(b))
		if refused != nil {
			return &fail.Error{Code: fail.NoSolution}
		}
		return nil
	case refused != nil:
		return refused
	case v.sh, v.ps1:
		write := say.Either(v.ps1, plan.PowerShell, plan.Script)
		if b, err := plan.Encode(p); err == nil {
			warnHidden(string(b))
		}
		form := text.Form("%s%s", write(p), ui.KernelScript(v.kernel, p.Interpreter(), v.ps1))
		return writeFormTo(w, v.file, 0o700, form, "`--json` has no such limit")
	}
	look := style(w)
	look.Verbose = v.verbose
	_, err := io.WriteString(w, ui.Plan(ui.There(p), look)+ui.KernelText(p, p.Target.Dir, v.kernel)+ui.Next(p, v.args, look)+ui.Here(v.here, look))
	return err
}

// warnHidden says that what is printed for a program lacks what another one would need.
func warnHidden(whole string) {
	if text.Hide(whole, tokens()...) != whole {
		fmt.Fprintln(stderr(), "envfix: warning: *** stands for what may be a token in the path of an address; `--out FILE` keeps it")
	}
}

// refusal returns the error for a plan without an answer, nil for any other.
func refusal(p *plan.Plan) error {
	if p.Decision != resolver.NoSolution && p.Decision != resolver.NeedTarget {
		return nil
	}
	text, details, hints := ui.Refusal(p)
	return &fail.Error{Code: fail.NoSolution, Text: text, Details: details, Hints: hints}
}

// style is that of the terminal w: its width, and colour unless NO_COLOR is set
// (no-color.org).
func style(w io.Writer) ui.Style {
	if !isTerminal(w) {
		return ui.Style{}
	}
	return ui.Style{Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb", Width: columns(w)}
}

// writeOut writes what --out asks for, for its user alone: a plan may name hosts.
func writeOut(path string, b []byte, mode fs.FileMode) error {
	if err := system.Replace(path, b, mode); err != nil {
		text := err.Error()
		var at *fs.PathError // of the file beside it that takes its place
		if errors.As(err, &at) {
			text = path + ": " + at.Err.Error()
		}
		return &fail.Error{Code: fail.Preflight, Text: ui.Clean(text), Err: err, Hints: []string{"`--out FILE` needs a directory that can be written"}}
	}
	return nil
}

// withKernel is the wish with what a kernel needs, where nothing locks the packages.
func (f planFlags) withKernel() planFlags {
	w := &f.wish
	plans := slices.ContainsFunc(w.Arguments, func(a string) bool { return strings.HasSuffix(a, ".json") })
	if f.kernel == "" || plans {
		return f
	}
	switch {
	case len(w.Arguments)+len(w.Files) > 0:
		w.Arguments = append(slices.Clone(w.Arguments), "ipykernel")
	case f.lock.none || f.lock.bundle == "" && governing() == "":
		w.Arguments = []string{"torch", "torchvision", "ipykernel"} // what is installed without a wish, and ipykernel
	}
	return f
}

// sameWish are the arguments of `envfix plan` without those that say how a plan is shown.
// It is nil where they hold a credential, which is not printed.
func sameWish(args []string) []string {
	args = args[1:]
	if i := slices.IndexFunc(args, func(a string) bool { return a == "plan" || a == "apply" }); i >= 0 {
		args = slices.Delete(slices.Clone(args), i, i+1)
	}
	if !slices.Equal(text.RedactArgv(args, append(text.Secrets(os.Environ()), tokens()...)...), args) {
		return nil
	}
	shown := []string{"-v", "--verbose", "--exit-code", "--open", "--dry-run", "--yes", "-y"}
	return slices.DeleteFunc(args, func(a string) bool { return slices.Contains(shown, a) })
}

// nextArgs are the arguments of the command that follows a plan: where it has steps, as
// `envfix apply` takes them, which is the file that the plan was written to, or, of a
// described machine, what does not describe it: there the machine is what it is.
func nextArgs(args []string, p *plan.Plan) []string {
	rest, file := lessFlags(args, "--out")
	switch {
	case len(p.Steps) == 0:
		return rest
	case file != "":
		out := append([]string{file}, agreement(built(p))...)
		if _, kernel := lessFlags(args, "--kernel"); kernel != "" { // it is not of the plan
			out = append(out, "--kernel", kernel)
		}
		return out
	}
	if p.Basis.Request.Described {
		described := text.Each(describe.Fields(&describe.Machine{}), func(f describe.Flag) string { return "--" + f.Name })
		args, _ = lessFlags(args, append(described, "--facts")...)
	}
	return whole(args, p)
}

// whole are arguments with those that agree to what the plan builds, and ask for what the
// project's sources need.
func whole(args []string, p *plan.Plan) []string {
	if args == nil {
		return nil
	}
	all := append(built(p), p.Target.Closing...)
	slices.Sort(all)
	return append(slices.Clip(args), append(say.All(say.If(p.Target.Lacks, "--closure")), agreement(slices.Compact(all))...)...) // none stay none, not nil
}

// hereArgs are the arguments of the command that builds here what a described machine is to
// run, as for an image or on a login node; nil where this machine could not.
func hereArgs(args []string, p *plan.Plan) []string {
	system, arch := machine.NormalPlatform(runtime.GOOS, runtime.GOARCH)
	_, file := lessFlags(args, "--out")
	if at := p.Basis.Facts.Platform; !p.Basis.Request.Described || len(p.Steps) == 0 || at.OS != system || at.Arch != arch || file != "" {
		return nil
	}
	if name := p.Target.Manager; slices.Contains(managers.Conda(), name) {
		if _, err := exec.LookPath(name); err != nil {
			return nil // conda is none that envfix brings
		}
	}
	return whole(args, p)
}

// lessFlags leaves out flags that take a value; value is that of the first of them which has one.
func lessFlags(args []string, flags ...string) (rest []string, value string) {
	rest = args[:0:0] // none stay none, not nil
	for i := 0; i < len(args); i++ {
		name, its, attached := strings.Cut(args[i], "=")
		switch {
		case !slices.Contains(flags, name):
			rest = append(rest, args[i])
			continue
		case !attached && i+1 < len(args):
			i++
			its = args[i]
		}
		value = cmp.Or(value, its)
	}
	return rest, value
}

// restOf is the command that asks again for what a plan was made for, of which it did the
// first part.
func restOf(p *plan.Plan) string {
	argv := []string{"envfix", "apply"}
	argv = append(argv, text.Each(p.Basis.Request.Requirements, func(q pep508.Requirement) string { return q.Text })...)
	t := p.Target
	t.InPlace = t.InPlace && p.Basis.Facts.Platform.OS == "linux" // elsewhere there is no other way
	argv = slices.Concat(argv, describe.Words(p.Basis.Request).Args(), describe.Args(t))
	if p.Target.Dir != place.Default {
		argv = append(argv, "--env", p.Target.Dir)
	}
	return "`" + text.Command(argv...) + "`"
}
