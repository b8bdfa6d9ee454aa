package apply

import (
	"context"
	"slices"
	"time"

	"envfix/internal/plan"
	"envfix/internal/system"
)

// beside reports whether step i is the installer's own check of what it installed, and
// the next one the proof: both only read, so that neither waits for the other. A small
// proof takes no longer than uv's check, and pip's takes half a second.
func beside(steps []plan.Step, i int) bool {
	return i+1 < len(steps) && onlyChecks(steps[i]) && steps[i+1].Verify != nil
}

// onlyChecks reports whether a step runs `uv pip check` or `pip check`, by its command:
// a plan may give any step any name.
func onlyChecks(s plan.Step) bool {
	if s.Run == nil || s.Root || len(s.Run.Argv) == 0 {
		return false
	}
	_, uv := after(s.Run.Argv[1:], "pip", "check", "--python")
	return uv && len(s.Run.Argv) == 5 || slices.Equal(s.Run.Argv[1:], []string{"-I", "-m", "pip", "--isolated", "check"})
}

// bothAtOnce carries out step i beside the one after it, and returns which of them
// failed. Where both did, it is the check: it names the packages, and an import that
// fails is what comes of them.
func (r *run) bothAtOnce(ctx context.Context, i int) (failed int, err error) {
	s, begin := r.plan.Steps[i], time.Now()
	if err := r.intend(ctx, i); err != nil {
		return i, err
	}
	at, foreign, checked := len(r.result.Steps), r.foreign, make(chan error, 1)
	took := Took{Step: s.ID, Foreign: true}
	r.result.Steps = append(r.result.Steps, took) // the proof's comes after it
	go func() {
		run := r.filled(s).Run
		err := r.program(ctx, i, system.Command{Argv: run.Argv, Env: run.Env, Dir: run.Dir, Quiet: !r.Verbose, Second: true,
			Started: func() error { return system.Point(s.ID + ":mid") }})
		took.Time = time.Since(begin)
		checked <- err
	}()
	next := r.step(ctx, i+1)
	err = <-checked
	r.foreign = foreign + time.Since(begin)
	r.result.Steps[at] = took
	if err == nil {
		err = r.done(ctx, i)
	}
	if err != nil {
		return i, err
	}
	return i + 1, next
}
