package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"envfix/internal/plan"
	"envfix/internal/system"
)

// A Rooter runs one step with root's rights: itself, or through sudo. It gets the
// step with its placeholders filled.
type Rooter func(ctx context.Context, s plan.Step, out io.Writer, log *system.Log) error

// Direct runs a step as root when we are root.
func Direct(ctx context.Context, s plan.Step, out io.Writer, log *system.Log) error {
	if err := CheckRoot(s); err != nil {
		return err
	}
	if s.Write != nil {
		return system.WriteFile(s.Write.Path, []byte(s.Write.Content), os.FileMode(s.Write.Mode))
	}
	argv := slices.Clone(s.Run.Argv)
	if len(argv) == 3 && argv[0] == "dpkg" && argv[1] == "--install" {
		// The file lies where a user can exchange it: what is installed is a copy
		// that nobody else can reach.
		own, remove, err := system.OwnCopy(argv[2])
		if err != nil {
			return err
		}
		defer remove()
		argv[2] = own
	}
	return system.Run(ctx, system.Command{Argv: argv, Env: s.Run.Env, Root: true, Patient: true, Out: out, Log: log})
}

// systemHalf reports whether a step acts on the system, not on the environment.
func systemHalf(s plan.Step) bool { return s.Root || s.Manual != nil }

func needsRoot(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Root })
}

// mayRoot refuses a plan with steps for root where there are no rights, and hands
// over a script for who has them.
func (r *run) mayRoot() error {
	if !needsRoot(r.plan) {
		return nil
	}
	for _, s := range r.plan.Steps {
		if s.Root {
			if err := CheckRoot(r.filled(s)); err != nil {
				return err
			}
		}
	}
	if err := r.driverAllowed(); err != nil {
		return err
	}
	if r.Root != nil {
		return nil
	}
	script, err := RootScript(r.plan)
	if err != nil {
		return err
	}
	e := &Error{Kind: Privilege, Text: "steps of this plan need root's rights, and there is no way to get them here",
		Hints: []string{"give the script above to an administrator; when it ran, `envfix apply` goes on"}, Script: script}
	return e
}

// driverAllowed refuses to change a driver where it belongs to another system.
func (r *run) driverAllowed() error {
	if !slices.ContainsFunc(r.plan.Steps, func(s plan.Step) bool { return s.Root && strings.HasPrefix(s.ID, "driver") }) {
		return nil
	}
	why := ""
	if r.plan.Basis.Request.Described {
		return &Error{Kind: Preflight, Text: "the machine of this plan was described: its driver is not installed on this one",
			Hints: []string{"plan without `--facts`, `--gpu` and `--driver`, or run the script of `envfix plan --sh` there"}}
	}
	switch r.plan.Basis.Facts.Platform.Environment {
	case "wsl2":
		why = "under WSL the driver is Windows': update it there"
	case "container", "container-build":
		why = "a container takes the driver of its host: change it there"
	case "jetson":
		why = "the driver of a Jetson is part of L4T: upgrade JetPack"
	default:
		return nil
	}
	return &Error{Kind: Preflight, Text: "no driver is installed here: " + why}
}

// RootScript is the part of p for an administrator, as a POSIX script: all steps
// up to the last that needs root, and the reboot after it.
func RootScript(p *plan.Plan) (string, error) {
	part := *p
	last := 0
	for i, s := range p.Steps {
		if systemHalf(s) {
			last = i + 1
		}
	}
	part.Steps = p.Steps[:last]
	return plan.Script(&part)
}

// filled returns s with its placeholders replaced.
func (r *run) filled(s plan.Step) plan.Step {
	if s.Run != nil {
		run := *s.Run
		run.Argv = make([]string, len(s.Run.Argv))
		for i, a := range s.Run.Argv {
			run.Argv[i] = r.fill(a)
		}
		s.Run = &run
	}
	return s
}

// asRoot runs a step of the system half.
func (r *run) asRoot(ctx context.Context, i int) error {
	s := r.plan.Steps[i]
	log, name, err := r.openLog(i)
	if err != nil {
		return err
	}
	err = errors.Join(r.Root(ctx, r.filled(s), r.Out, log), log.Close())
	var exit *system.ExitError
	if errors.As(err, &exit) {
		return fromInstaller(s.Title, exit, r.env.path(name))
	}
	if err != nil {
		return err
	}
	return r.effect(ctx, s)
}

// effect asks the machine whether the driver is what was installed: package
// managers end well with nothing installed, too.
func (r *run) effect(ctx context.Context, s plan.Step) error {
	if s.ID != "driver" || r.Facts == nil || r.plan.Driver.Branch == nil {
		return nil
	}
	return r.driverIs(ctx, false)
}

// driverIs compares the driver with the plan; loaded demands that the kernel runs
// it too.
func (r *run) driverIs(ctx context.Context, loaded bool) error {
	h, err := r.Facts(ctx)
	if err != nil {
		return err
	}
	want := *r.plan.Driver.Branch
	wrong := func(format string, args ...any) error {
		return &Error{Kind: Verification, Text: fmt.Sprintf(format, args...), Hints: []string{"`envfix doctor` looks for the cause"}}
	}
	switch d := h.Driver; {
	case d == nil:
		return wrong("driver %s was to be installed, and none is there", want)
	case fmt.Sprint(d.Version.Major()) != want:
		return wrong("driver %s was to be installed, and %s is there", want, d.Version)
	case loaded && d.NotLoaded:
		return wrong("driver %s is installed and its kernel module is not loaded", d.Version)
	case loaded && !d.LoadedVersion.IsZero() && d.LoadedVersion.Compare(d.Version) != 0:
		return wrong("the kernel runs driver %s, and the libraries are %s", d.LoadedVersion, d.Version)
	}
	return nil
}

// carriedOn reports whether step i was done before by this plan: of the system
// half only, for the environment is built anew. A reboot is done when the boot is
// another one.
func (r *run) carriedOn(ctx context.Context, i int) (bool, error) {
	s := r.plan.Steps[i]
	if !systemHalf(s) {
		return false, nil
	}
	for _, e := range slices.Backward(r.journal.entries) {
		if e.Plan == r.plan.ID && e.Env == r.env.Name && ended(e.State) {
			return false, nil
		}
		if e.Plan != r.plan.ID || e.Step != s.ID || e.Env != r.env.Name {
			continue
		}
		switch {
		case e.State == Done:
			return true, nil
		case e.State != Waiting:
			return false, nil
		case s.Manual == nil || !s.Manual.Reboot:
			return r.Resume, nil // a person said so
		case e.Boot == r.journal.boot:
			return false, nil
		case r.Facts != nil && r.plan.Driver.Branch != nil:
			return true, r.driverIs(ctx, true)
		}
		return true, nil
	}
	return false, nil
}

// other refuses to begin a plan while another one has changed the system and is
// not done.
func (r *run) other() error {
	open := r.journal.unfinished(r.env.Name)
	if open == nil || open.Plan == r.plan.ID {
		return nil
	}
	return &Error{Kind: Busy, Text: fmt.Sprintf("another plan (%s) has begun to change the system and is not done", open.Note),
		Hints: []string{"`envfix apply --resume` goes on with it", "`envfix apply --abandon` gives it up"}}
}

// ended reports whether a state ends a plan.
func ended(s State) bool {
	return s == End || s == Failure || s == Abandoned || s == Recovered
}
