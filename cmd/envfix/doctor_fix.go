package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"envfix/installers"
	"envfix/internal/doctor"
	"envfix/internal/doctor/read"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/place"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/ui"
	"envfix/internal/version"
)

// mend shows the findings and the plan that mends them, carries it out as apply
// does, and examines again. What envfix cannot do it names, with the command.
func (f doctorFlags) mend(ctx context.Context, r doctor.Report, patient *read.Case) error {
	show := say.Either[io.Writer](f.json, stderr(), stdout())
	p, refused := f.withSteps(ctx, &r, patient)
	look := f.look(show)
	text := f.where(patient) + ui.Doctor(r, patient, look)
	if p == nil {
		return f.leave(show, text, mending{report: r, refused: refused})
	}
	text += "\n" + ui.Plan(p, look) + ui.Handwork(r.Findings, p)
	if _, err := io.WriteString(show, text); err != nil {
		return err
	}
	whole := func() error {
		look.Verbose = true
		_, err := io.WriteString(show, ui.Plan(p, look))
		return err
	}
	if f.verbose {
		whole = nil
	}
	if err := f.moves(p, patient); err != nil {
		return err
	}
	if err := consent(ctx, f.apply.yes, p, whole); err != nil {
		return err
	}
	ctx, end := interruptible() // doctor alone changes nothing, and a signal simply ends it
	defer end()
	did, err := f.apply.perform(ctx, p, false)
	if err != nil {
		failed := fail.Of(err)
		if !small(p) || failed.Changed || !slices.Contains([]int{fail.Failed, fail.Integrity, fail.Verify}, failed.Code) {
			return err
		}
		fmt.Fprintf(stderr(), "envfix: %s\nenvfix: the small change failed, and the environment is as it was; the second choice builds it anew\n\n", ui.Clean(failed.Text))
		f.whole = true
		return f.mend(ctx, r, patient)
	}
	after, patient, err := f.examineAgain(ctx, p)
	if err != nil {
		return err
	}
	text = "\nafter the mending: " + ui.Doctor(after, patient, f.look(show)) + ui.UseIt(p)
	return f.leave(show, text, mending{report: after, done: &applied{p.ID, did.Generation}})
}

// small reports whether a plan brings a few packages and leaves all else.
func small(p *plan.Plan) bool {
	return p.Target.Repair != nil && p.Target.Amends()
}

// moves stops `--yes` before torch moves to another minor version, or from a GPU to the CPU:
// what is here may need the one that it has. The command that is named consents.
func (f doctorFlags) moves(p *plan.Plan, patient *read.Case) error {
	have, label := doctor.InstalledTorch(patient)
	c := p.Installs()
	if !f.apply.yes || have == "" || c.Torch == "" {
		return nil
	}
	ofCUDA := func(d machine.DistFiles) bool { return strings.HasPrefix(d.Name, "nvidia-c") }
	leaves := c.Build == "cpu" && label != "cpu" && (label != "" || slices.ContainsFunc(patient.Files.Dists, ofCUDA))
	if !leaves && version.Minor(have) == version.Minor(c.Torch) {
		return nil
	}
	text := fmt.Sprintf("no build of torch %s fits this machine: to mend it, torch has to become %s", have, c.Torch)
	if leaves {
		text = fmt.Sprintf("torch %s is a build for %s, and no GPU is to be seen that it serves: to mend it, it has to become the one for the CPU", have, cmp.Or(label, "CUDA"))
	}
	command := "envfix apply torch==" + c.Torch + " --build " + c.Build + " --yes"
	command += say.If(f.plan.target.env != ".venv", " --env "+ui.Clean(f.plan.target.env))
	return &fail.Error{Code: fail.Pending, Text: text,
		Details: []string{"nothing was changed: what is installed beside torch may need the version that is here"},
		Hints:   []string{"`" + command + "` consents to that", "`envfix doctor --fix` asks"}}
}

// A mending is how a `doctor --fix` ended.
type mending struct {
	report  doctor.Report // the last one
	done    *applied      // nil: nothing was carried out
	refused error         // why no plan could be made
}

// applied says in the JSON of `doctor --fix` what was carried out.
type applied struct {
	Plan       string `json:"plan"`
	Generation string `json:"generation,omitempty"`
}

// A doctorFixAnswer is the JSON of `envfix doctor --fix`.
type doctorFixAnswer struct {
	doctor.Report
	Applied *applied `json:"applied,omitempty"`
}

// leave prints the end of a `doctor --fix`. Its exit code says whether an error is
// left.
func (f doctorFlags) leave(show io.Writer, text string, m mending) error {
	if _, err := io.WriteString(show, text+ui.Handwork(m.report.Findings, nil)); err != nil {
		return err
	}
	if f.json {
		if err := writeJSON(f.out, doctorFixAnswer{m.report, m.done}); err != nil {
			return err
		}
	}
	var refused *fail.Error
	switch {
	case m.report.OK && m.refused == nil:
		return nil
	case f.json:
		return &fail.Error{Code: fail.Failed}
	case errors.As(m.refused, &refused):
		return &fail.Error{Code: fail.Failed, Text: refused.Text, Details: refused.Details, Hints: refused.Hints, Err: refused}
	case m.refused != nil:
		return m.refused
	case m.done != nil:
		return fail.New(fail.Failed, "not everything is mended",
			"the lines after => and `by hand` say what is left to do")
	}
	return fail.New(fail.Failed, "envfix cannot mend this itself", "the lines after => and `by hand` say what to do")
}

// examineAgain looks at the machine as a shell sees it in which the environment of
// the plan is active.
func (f doctorFlags) examineAgain(ctx context.Context, p *plan.Plan) (doctor.Report, *read.Case, error) {
	for _, x := range p.EnvFixes {
		before := os.Getenv(x.Variable)
		if after := installers.Activated(x.Variable, before, p.EnvFixes); after != before {
			if err := os.Setenv(x.Variable, after); err != nil {
				return doctor.Report{}, nil, err
			}
		}
		if installers.Unset(p.Steps, x) {
			if err := os.Unsetenv(x.Variable); err != nil {
				return doctor.Report{}, nil, err
			}
		}
	}
	return f.report(ctx)
}

// where says in one line which environment was examined; "" none was. Where the one that
// is meant is not there yet, it is that of the Python which the shell runs.
func (f doctorFlags) where(p *read.Case) string {
	if p.Pasted || f.plan.machine.elsewhere() {
		return ""
	}
	at := f.plan.target.place
	if !at.Named && !place.IsEnv(at.Dir) && p.Torch.Version != "" && p.Files != nil && p.Files.Dir != "" {
		return fmt.Sprintf("environment %s (of the first Python on PATH)\n", ui.Clean(p.Files.Dir))
	}
	return at.Line() + "\n"
}

// fixes names the command that mends what was found, where a plan can; "" none can.
func (f doctorFlags) fixes(r doctor.Report, p *read.Case) string {
	if p.Pasted || r.OK || r.Process != nil || f.plan.machine.elsewhere() {
		return ""
	}
	torch, _ := doctor.InstalledTorch(p)
	first := doctor.CureOf(&r, p).First
	if first < 0 || strings.HasPrefix(r.Findings[first].Cause, "driver_") { // which is not touched without leave
		return ""
	}
	if fix := r.Findings[first].Fix; torch == "" && len(fix) > 0 && !strings.HasPrefix(fix[0], "`envfix apply`") {
		return "" // no build fits, or none is for this machine: that says what helps
	}
	return "\n`" + again("--fix") + "` shows the plan that mends this, and asks\n"
}
