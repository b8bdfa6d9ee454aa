package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"envfix/installers"
	"envfix/internal/apply"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/ui"
	"envfix/resolver"

	"github.com/urfave/cli/v2"
)

func planCommand() *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "show what fits this machine and every step to get there; changes nothing",
		ArgsUsage: "[REQUIREMENT…]",
		Description: `Chooses the driver, CUDA, cuDNN and PyTorch combination for a machine and prints
the steps that install it. Without a REQUIREMENT: torch, torchvision, and
torchaudio while it exists for that torch.

EXAMPLES
  envfix plan
  envfix plan 'torch==2.9.*' torchvision
  envfix plan --gpu "RTX 5090" --driver 570.86.16
  envfix plan --facts host.json --json
  envfix plan --out plan.json && envfix apply plan.json
  envfix plan --drop xformers            carry everything over but that
  envfix plan --fresh                    carry nothing over

An environment that is replaced keeps its other packages: the plan lists what
changes, what stays in its exact version, and what cannot stay, each with the
reason. Editable installs and repositories come again from where they came.

EXIT STATUS
  0  there is a plan
  2  usage, or input that cannot be read
  3  no compatible combination, or a target must be named
  4  changes are pending (with --exit-code)
  9  --out FILE cannot be written`,
		Flags: append(append([]cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print the plan as JSON"},
			&cli.BoolFlag{Name: "sh", Usage: "print the steps as a POSIX script"},
			&cli.StringFlag{Name: "out", Usage: "write the plan to `FILE`, for envfix apply"},
			&cli.BoolFlag{Name: "exit-code", Usage: "exit 4 where changes are pending"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "print every reason"},
		}, requestFlags()...), slices.Concat(carryFlags(), describeFlags(), lockFlags())...),
		Action: planAction,
	}
}

func planAction(c *cli.Context) error {
	if c.Bool("json") && c.Bool("sh") {
		return &failure{code: exitUsage, text: "`--json` and `--sh` exclude each other", hints: []string{"drop one of them"}}
	}
	p, err := makePlan(c)
	if err != nil {
		return err
	}
	if path := c.String("out"); path != "" {
		if err := writePlan(path, p); err != nil {
			return err
		}
	}
	if err := showPlan(c, p); err != nil {
		return err
	}
	if c.Bool("exit-code") && pending(p) {
		return &failure{code: exitPending}
	}
	return nil
}

// pending reports whether something is left to do: steps, or a driver that has to
// change first and whose steps were not asked for.
func pending(p *plan.Plan) bool {
	return len(p.Steps) > 0 || p.Decision == resolver.UpgradeDriver || p.Decision == resolver.PinDriverBranch
}

// showPlan prints the plan in the form that was asked for. A refusal is an
// error; with --json it is a plan object like any other, and its exit code alone
// says it.
func showPlan(c *cli.Context, p *plan.Plan) error {
	refused := refusal(p)
	w := c.App.Writer
	switch {
	case c.Bool("json"):
		b, err := plan.Encode(p)
		if err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		if refused != nil {
			return &failure{code: exitNoSolution}
		}
		return nil
	case refused != nil:
		return refused
	case c.Bool("sh"):
		text, err := plan.Script(p)
		if err != nil {
			return &failure{code: exitFailed, text: ui.Clean(err.Error()), err: err, hints: []string{"`--json` has no such limit"}}
		}
		_, err = io.WriteString(w, text)
		return err
	}
	look := style(w)
	look.Verbose = c.Bool("verbose")
	_, err := io.WriteString(w, ui.Plan(p, look)+ui.Next(p, look))
	return err
}

// refusal returns the error for a plan without an answer, nil for any other.
func refusal(p *plan.Plan) error {
	if p.Decision != resolver.NoSolution && p.Decision != resolver.NeedTarget {
		return nil
	}
	text, details, hints := ui.Refusal(p)
	return &failure{code: exitNoSolution, text: text, details: details, hints: hints}
}

// style allows colour on a terminal, unless NO_COLOR is set (no-color.org).
func style(w io.Writer) ui.Style {
	f, ok := w.(*os.File)
	return ui.Style{Color: ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(f)}
}

// writePlan writes the plan for its user alone: it may name hosts.
func writePlan(path string, p *plan.Plan) error {
	b, err := plan.Encode(p)
	if err != nil {
		return err
	}
	if err := replaceFile(path, b, 0o600); err != nil {
		text := err.Error()
		var at *fs.PathError // of the file beside it that takes its place
		if errors.As(err, &at) {
			text = path + ": " + at.Err.Error()
		}
		return &failure{code: exitPreflight, text: ui.Clean(text), err: err, hints: []string{"`--out FILE` needs a directory that can be written"}}
	}
	return nil
}

// makePlan gathers facts and wishes and computes the plan; apply uses it too.
func makePlan(c *cli.Context) (*plan.Plan, error) { return makePlanTo(c, nil, nil) }

// makePlanTo is makePlan where doctor knows what must be mended (nil: it does not)
// and adds requirements.
func makePlanTo(c *cli.Context, mend *plan.Repair, more func(*resolver.Request)) (*plan.Plan, error) {
	m, err := matrixFor()
	if err != nil {
		return nil, err
	}
	h, described, err := gatherMachine(c)
	if err != nil {
		return nil, err
	}
	r, err := gatherRequest(c, described)
	if err != nil {
		return nil, err
	}
	if more != nil {
		more(&r)
	}
	t, err := gatherTarget(c, h)
	if err != nil {
		return nil, err
	}
	t.Repair = mend
	if p, err := lockedPlan(c, m, wanted{h, r, t}); p != nil || err != nil {
		return p, err
	}
	r.Companions = heldCompanions(t)
	res, err := resolver.Resolve(m, h, r)
	if err != nil {
		return nil, &failure{code: exitUsage, text: ui.Clean(err.Error()), err: err}
	}
	res.Warnings = append(res.Warnings, projectWarnings(c.StringSlice("requirements"), res.Choice)...)
	if w := uvLockWarning(t); w != "" {
		res.Warnings = append(res.Warnings, w)
	}
	if old := matrixAge(m, r.Today); old != "" {
		res.Warnings = append(res.Warnings, old)
	}
	if !described && os.Getenv("ENVFIX_ROOT") == "" { // below a root there is another machine
		if manager, names := installers.DriverPackages(m, h, r, res); manager != "" {
			h.DriverPackages = apply.AskDriverPackages(c.Context, manager, names)
		}
	}
	p, err := installers.Plan(m, withOwnTools(c, h), r, res, t)
	if err != nil {
		return nil, &failure{code: exitUsage, text: ui.Clean(err.Error()), err: err}
	}
	p.Basis.Envfix, p.Basis.Facts = buildVersion, h
	return p, plan.Seal(p)
}

// wanted is a machine, what is wished for it, and where it is to be.
type wanted struct {
	machine machine.Machine
	request resolver.Request
	target  plan.Target
}

// withOwnTools is the machine with the programs that the steps run: also the uv
// that an earlier plan put into envfix's own tools, where there is no other. What
// apply carries out here it does with the programs that are here, never with those
// that a facts file names.
func withOwnTools(c *cli.Context, h machine.Machine) machine.Machine {
	if c.IsSet("facts") {
		if c.Command.Name != "apply" {
			return h
		}
		here := thisMachine(c)
		h.Tools, h.Pythons = here.Tools, here.Pythons
	}
	uv := filepath.Join(toolsDir(), "uv", "bin", "uv")
	if slices.ContainsFunc(h.Tools, func(t machine.Tool) bool { return t.Name == "uv" }) {
		return h
	}
	if info, err := os.Stat(uv); err != nil || !info.Mode().IsRegular() {
		return h
	}
	h.Tools = append(slices.Clone(h.Tools), machine.Tool{Name: "uv", Path: uv})
	return h
}

// gatherTarget reads where packages go.
func gatherTarget(c *cli.Context, h machine.Machine) (plan.Target, error) {
	t := plan.Target{Dir: c.String("env"), Manager: c.String("manager"), InPlace: c.Bool("in-place") || h.Platform.OS != "linux", Offline: c.Bool("offline")}
	if err := gatherCarry(c, h, &t); err != nil {
		return t, err
	}
	for _, pair := range c.StringSlice("mirror") {
		if err := checkMirror(pair); err != nil {
			return t, err
		}
		t.Mirrors = append(t.Mirrors, pair)
	}
	if t.Manager != "uv-project" {
		return t, nil
	}
	text, err := system.ReadFile(filepath.Join(filepath.Dir(t.Dir), "pyproject.toml"), 1<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return t, &failure{code: exitUsage, text: ui.Clean(err.Error()), err: err, hints: []string{"`--manager uv` installs without a project"}}
	}
	t.Project = text
	return t, nil
}
