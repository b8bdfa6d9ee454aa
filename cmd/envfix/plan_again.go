package main

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/place"
	"envfix/internal/plan"
	"envfix/internal/text"
)

// sameWish are the arguments of `envfix plan` without those that say how a plan is shown.
// It is nil where they hold a credential, which is not printed.
func sameWish(args []string) []string {
	args = args[1:]
	if i := slices.Index(args, "plan"); i >= 0 {
		args = slices.Delete(slices.Clone(args), i, i+1)
	}
	if !slices.Equal(text.RedactArgv(args, append(text.Secrets(os.Environ()), tokens()...)...), args) {
		return nil
	}
	shown := []string{"-v", "--verbose", "--exit-code", "--open"}
	return slices.DeleteFunc(args, func(a string) bool { return slices.Contains(shown, a) })
}

// nextArgs are the arguments of the command that follows a plan: where it has steps, as
// `envfix apply` takes them, which is the file that the plan was written to, or, of a
// described machine, what does not describe it: there the machine is what it is.
func nextArgs(args []string, p *plan.Plan) []string {
	if len(p.Steps) == 0 {
		return lessFlags(args, "--out")
	}
	if file := valueOf(args, "--out"); file != "" {
		if kernel := valueOf(args, "--kernel"); kernel != "" { // it is not of the plan
			return []string{file, "--kernel", kernel}
		}
		return []string{file}
	}
	if p.Basis.Request.Described {
		described := text.Each(describe.MachineFlags(), func(f describe.Flag[describe.Machine]) string { return "--" + f.Name })
		return lessFlags(args, append(described, "--facts")...)
	}
	return args
}

// hereArgs are the arguments of the command that builds here what a described machine is to
// run, as for an image or on a login node; nil where this machine could not.
func hereArgs(args []string, p *plan.Plan) []string {
	system, arch := machine.NormalPlatform(runtime.GOOS, runtime.GOARCH)
	if at := p.Basis.Facts.Platform; !p.Basis.Request.Described || len(p.Steps) == 0 || at.OS != system || at.Arch != arch || valueOf(args, "--out") != "" {
		return nil
	}
	if name := p.Target.Manager; slices.Contains(managers.Conda(), name) {
		if _, err := exec.LookPath(name); err != nil {
			return nil // conda is none that envfix brings
		}
	}
	return args
}

// valueOf is the value of a flag, "" where it is not there.
func valueOf(args []string, flag string) string {
	for i, a := range args {
		name, value, attached := strings.Cut(a, "=")
		switch {
		case name != flag:
		case attached:
			return value
		case i+1 < len(args):
			return args[i+1]
		}
	}
	return ""
}

// lessFlags leaves out flags that take a value.
func lessFlags(args []string, flags ...string) []string {
	if args == nil {
		return nil
	}
	out := []string{}
	for i := 0; i < len(args); i++ {
		name, _, attached := strings.Cut(args[i], "=")
		if !slices.Contains(flags, name) {
			out = append(out, args[i])
		} else if !attached {
			i++
		}
	}
	return out
}

// restOf is the command that asks again for what a plan was made for, of which it did the
// first part.
func restOf(p *plan.Plan) string {
	argv := []string{"envfix", "apply"}
	argv = append(argv, text.Each(p.Basis.Request.Requirements, func(q pep508.Requirement) string { return q.Text })...)
	t := p.Target
	t.InPlace = t.InPlace && p.Basis.Facts.Platform.OS == "linux" // elsewhere there is no other way
	argv = slices.Concat(argv, describe.Words(p.Basis.Request).Args(), describe.Args(append(targetTable(), carryTable()...), t))
	if p.Target.Dir != place.Default {
		argv = append(argv, "--env", p.Target.Dir)
	}
	return "`" + text.Command(argv...) + "`"
}
