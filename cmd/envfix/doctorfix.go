package main

import (
	"io"
	"os"
	"slices"

	"envfix/internal/doctor"
	"envfix/internal/plan"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

// planned are the causes that another plan for this machine mends: what is
// installed, the driver, and the environment's variables.
var planned = []string{
	"torch_cpu_wheel", "torch_cpu_conda", "torch_replaced", "torch_duplicate_install", "torch_rocm_on_nvidia_or_reverse", "broken_wheel_release",
	"gpu_too_new_for_wheel", "gpu_too_old_for_wheel", "torchvision_mismatch", "nvidia_pip_lib_mismatch", "missing_runtime_lib", "extension_abi_mismatch",
	"driver_too_old", "driver_missing", "driver_library_mismatch", "ld_path_shadowing", "cuda_compat_lib_shadow", "jetson_wrong_wheel", "none",
}

// byHand are the checks of causes above that lie outside of the environment: no
// installation takes away a user's file or variable.
var byHand = []string{"PY004", "PY013", "PY014"}

// withSteps gives the first finding that a plan mends the plan's steps, and
// returns the plan; nil where no plan helps.
func withSteps(c *cli.Context, r *doctor.Report) (*plan.Plan, error) {
	i := slices.IndexFunc(r.Findings, func(f doctor.Finding) bool {
		return f.Severity > doctor.Note && slices.Contains(planned, f.Cause) && !slices.Contains(byHand, f.Check)
	})
	if i < 0 {
		return nil, nil
	}
	p, err := makePlan(c)
	if err != nil {
		return nil, err
	}
	if refusal(p) != nil || len(p.Steps) == 0 {
		return nil, nil
	}
	r.Findings[i].Steps = p.Steps
	return p, nil
}

// fix shows the findings and the plan that mends them, and carries it out as
// apply does.
func fix(c *cli.Context, r doctor.Report, patient *doctor.Case) error {
	p, err := withSteps(c, &r)
	if err != nil {
		return err
	}
	show := io.Writer(os.Stdout)
	if c.Bool("json") {
		show = os.Stderr
	}
	if _, err := io.WriteString(show, doctorText(r, patient, c.Bool("verbose"))); err != nil {
		return err
	}
	switch {
	case r.OK:
		return nil
	case p == nil:
		return &failure{code: exitFailed, text: "no plan mends this", hints: []string{"the lines after => say what to do by hand"}}
	}
	if _, err := io.WriteString(show, "\n"+ui.Plan(p, style(show))); err != nil {
		return err
	}
	if err := consent(c, p); err != nil {
		return err
	}
	return carryOut(c, p, false)
}
