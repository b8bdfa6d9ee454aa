package apply

import (
	"context"
	"errors"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/system"
)

// verify has the new environment prove itself.
func (r *run) verify(ctx context.Context, i int, mid func() error) error {
	s := r.plan.Steps[i]
	want := *s.Verify
	if r.plan.Basis.Request.Described {
		want.GPUs = 0 // the plan's GPUs need not be here; those that are must compute
	}
	if err := r.carried(want.Packages); err != nil {
		return err
	}
	var answer strings.Builder
	env := map[string]string{}
	if want.CUDAVisible != "" {
		env["CUDA_VISIBLE_DEVICES"] = want.CUDAVisible
	}
	err := r.program(ctx, i, system.Command{Argv: Argv(Python(r.fill("{gen}")), want.Imports), Env: env, Started: mid, Raw: &answer, Quiet: true})
	var failed *fail.Error
	if errors.As(err, &failed) && failed.Code == fail.Failed {
		failed.Code = fail.Verify
		return failed
	}
	if err != nil {
		return err
	}
	proof, err := ReadProof(answer.String())
	if err != nil {
		return &fail.Error{Code: fail.Verify, Text: s.Title + ": " + err.Error(), Err: err}
	}
	if wrong := Compare(want, proof); len(wrong) > 0 {
		e := &fail.Error{Code: fail.Verify, Text: "the new environment does not prove itself", Details: wrong, Hints: []string{"`envfix doctor` looks for the cause"}}
		if !r.inPlace() {
			e.Hints = []string{"nothing was switched; the environment is as it was before"}
		}
		e.Hints = append(e.Hints, "its whole output is in "+r.env.path(r.logName(i)))
		return e
	}
	r.gen.Proved = &Proved{Torch: proof.Torch, Build: r.plan.Installs().Build, GPUs: proof.Computed(), For: len(r.plan.Basis.Facts.GPUs)}
	shown, not := proof.Words()
	r.say("proven: %s", strings.Join(shown, "; "))
	for _, n := range not {
		r.say("not proven: %s", n)
	}
	return nil
}
