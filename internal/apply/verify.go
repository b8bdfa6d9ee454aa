package apply

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/text"
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
	from, stands := "", false
	if t := r.plan.Target; t.Amends() && t.Framed() == "" && !r.inPlace() {
		from, stands = torchStands(r.env.Dir, r.env.path(genPath(r.gen.ID)))
	}
	if stands {
		want.Imports, r.gen.Proved = nil, ProvedOf(from)
		r.say("torch is not imported again: no file that stays has changed, and nothing else has to do with it; %s",
			say.Either(r.gen.Proved != nil, "what it proved holds", "`envfix verify` proves it"))
		if len(want.Added) == 0 {
			return mid()
		}
	}
	proof, err := r.prove(ctx, i, want, mid)
	if err != nil {
		return err
	}
	if wrong := Compare(want, proof); len(wrong) > 0 {
		return unproven(wrong, r.inPlace(), r.env.path(r.logName(i)))
	}
	if !stands {
		r.gen.Proved = &Proved{Torch: proof.Torch, Build: r.plan.Installs().Build, GPUs: proof.Computed(), For: r.env.madeFor(r.plan)}
	}
	shown, not := proof.Words()
	r.say("proven: %s", strings.Join(shown, "; "))
	for _, n := range not {
		r.say("not proven: %s", n)
	}
	if r.imports = len(r.plan.Target.Imported) > 0; !r.imports {
		return nil
	}
	r.result.Imports = tryImports(Python(r.fill("{gen}")), r.plan.Target.Imported, func(argv []string) (string, bool) {
		var answer strings.Builder
		err := r.program(ctx, i, system.Command{Argv: argv, Raw: &answer, Quiet: true, Work: importsWork}) // it printed what it came to
		_, stalled := errors.AsType[*system.StallError](err)
		return answer.String(), ctx.Err() == nil && !stalled
	})
	for _, line := range r.result.Imports.words() {
		r.say("%s", line)
	}
	return ctx.Err()
}

// madeFor is how many GPUs the environment is for. One that is amended is for those of before,
// also where they are not to be seen now; of one that nothing is known of its build says it.
func (e *Env) madeFor(p *plan.Plan) int {
	gpus := len(p.Basis.Facts.GPUs)
	from, err := filepath.EvalSymlinks(e.Dir)
	before := ProvedOf(from)
	switch {
	case err != nil || !p.Target.Amends():
		return gpus
	case before != nil:
		return max(gpus, before.For)
	}
	return max(gpus, say.Either(p.Installs().CUDA != "", 1, 0))
}

// prove has the environment's Python say what it can do. mid is called once it runs.
func (r *run) prove(ctx context.Context, i int, want plan.Verify, mid func() error) (Proof, error) {
	env := map[string]string{}
	if want.CUDAVisible != "" {
		env["CUDA_VISIBLE_DEVICES"] = want.CUDAVisible
	}
	argv := Argv(Python(r.fill("{gen}")), append(want.Imports, text.Each(want.Added, func(d string) string { return d + "==" })...))
	proof, err := Outlive(argv, func(argv []string) (Proof, error) {
		var answer strings.Builder
		err := r.program(ctx, i, system.Command{Argv: argv, Env: env, Started: mid, Raw: &answer, Quiet: true})
		proof, unread := ReadProof(answer.String())
		if mid = nil; err == nil && unread != nil {
			err = &fail.Error{Code: fail.Verify, Text: r.plan.Steps[i].Title + ": " + unread.Error(), Err: unread}
		}
		return proof, err
	})
	if failed, ok := errors.AsType[*fail.Error](err); ok && failed.Code == fail.Failed {
		failed.Code = fail.Verify
		return proof, failed
	}
	if r.plan.Basis.Request.Described && len(proof.GPUs) == 0 {
		proof.withoutGPU()
	}
	return proof, err
}

// unproven says what is wrong with a new environment, whose whole output is in a log.
func unproven(wrong []string, inPlace bool, log string) error {
	hint := say.Either(inPlace, "`envfix doctor` looks for the cause", "nothing was switched; the environment is as it was before")
	return &fail.Error{Code: fail.Verify, Text: "the new environment does not prove itself", Details: wrong,
		Hints: []string{hint, "its whole output is in " + log}}
}
