package apply

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/text"
)

// step carries out one step between its intent and its record in the journal.
func (r *run) step(ctx context.Context, i int) error {
	s := r.plan.Steps[i]
	if err := ctx.Err(); err != nil {
		return err
	}
	if done, err := r.carriedOn(ctx, i); done || err != nil {
		if err == nil {
			r.say("step %d of %d: %s (done before)", i+1, len(r.plan.Steps), s.Title)
			err = r.record(Entry{State: Done, Step: s.ID})
		}
		return err
	}
	if err := r.intend(ctx, i); err != nil {
		return err
	}
	if s.Verify != nil {
		r.flush()
	}
	start := time.Now()
	err := r.act(ctx, i)
	took := Took{Step: s.ID, Time: time.Since(start), Foreign: s.Run != nil || s.Copy != nil || s.Verify != nil}
	r.result.Steps = append(r.result.Steps, took)
	if took.Foreign {
		r.foreign += took.Time
	}
	if err != nil {
		return err
	}
	return r.done(ctx, i)
}

// intend says what step i will do, and writes it down.
func (r *run) intend(ctx context.Context, i int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := r.plan.Steps[i]
	r.say("step %d of %d: %s", i+1, len(r.plan.Steps), s.Title)
	return inOrder(
		point(s.ID+":before-intent"),
		func() error { return r.record(Entry{State: Intent, Step: s.ID, Note: say.If(s.Root, rootNote)}) },
		point(s.ID+":after-intent"))
}

// done writes down that step i has acted.
func (r *run) done(ctx context.Context, i int) error {
	s := r.plan.Steps[i]
	ended := say.Either(s.Switch != nil, func() error { return nil }, ctx.Err)
	return inOrder(point(s.ID+":after-effect"), ended, point(s.ID+":before-record"),
		func() error { return r.record(Entry{State: Done, Step: s.ID}) })
}

// act does what the step is.
func (r *run) act(ctx context.Context, i int) error {
	s := r.plan.Steps[i]
	mid := func() error { return system.Point(s.ID + ":mid") }
	switch { // these pass their middle themselves, while something runs
	case s.Run != nil && !s.Root:
		return r.exec(ctx, i, mid)
	case s.Copy != nil:
		return r.copy(ctx, i, mid)
	case s.Verify != nil:
		return r.verify(ctx, i, mid)
	case s.Switch != nil:
		return r.switchTo(ctx, mid)
	}
	if s.Manual == nil {
		if err := mid(); err != nil {
			return err
		}
	}
	switch {
	case s.Root:
		return r.asRoot(ctx, i)
	case s.Clone != nil:
		return r.clone(ctx, s.Clone.Without)
	case s.Write != nil:
		return r.write(s.Write)
	case s.Block != nil:
		return r.block(s.Block)
	case s.Manual != nil:
		return r.manual(s)
	}
	return &fail.Error{Code: fail.Usage, Text: fmt.Sprintf("step %s does nothing that this envfix knows", s.ID)}
}

// fill replaces {gen}, {tools} and {envfix} in an argument, a path or a value.
func (r *run) fill(s string) string {
	gen := say.Either(r.inPlace(), r.env.Dir, r.env.path(genPath(r.gen.ID)))
	return strings.NewReplacer("{gen}", gen, "{tools}", r.Tools, "{envfix}", r.Self).Replace(s)
}

// place is where a step's file is: beside the environment, if it does not say.
func (r *run) place(path string) string {
	if path = r.fill(path); filepath.IsAbs(path) {
		return path
	}
	return r.env.path(path)
}

// exec runs the step's command and keeps its output.
func (r *run) exec(ctx context.Context, i int, mid func() error) error {
	run := r.filled(r.plan.Steps[i]).Run
	if err := r.program(ctx, i, system.Command{Argv: run.Argv, Env: run.Env, Dir: run.Dir, Started: mid}); err != nil {
		return err
	}
	if err := r.carriedSoFar(r.plan.Steps[i]); err != nil || r.plan.Steps[i].ID != plan.Copied {
		return err
	}
	return system.RemoveTree(r.env.root, genPath(r.gen.ID)+strings.TrimPrefix(plan.CopiedDir, "{gen}"))
}

// logName is where the output of step i is kept, below the project.
func (r *run) logName(i int) string {
	return fmt.Sprintf("%s/%s-%02d-%s.log", logsDir, r.gen.ID, i+1, r.plan.Steps[i].ID)
}

// openLog creates the log of step i and returns its name below the project.
func (r *run) openLog(i int) (*system.Log, string, error) {
	name := r.logName(i)
	if err := r.env.drop(name); err != nil {
		return nil, name, err
	}
	log, err := system.OpenLog(r.env.root, name)
	return log, name, err
}

// program runs one program for step i with its log, and again where the network
// failed it.
func (r *run) program(ctx context.Context, i int, c system.Command) error {
	log, name, err := r.openLog(i)
	if err != nil {
		return err
	}
	env := map[string]string{"TMPDIR": r.env.path(tmpDir)}
	for k, v := range c.Env {
		env[k] = r.fill(v)
	}
	end, err := r.handOver(env)
	if err != nil {
		return errors.Join(err, log.Close())
	}
	defer end()
	c.Env, c.Log, c.Stall = env, log, r.Stall
	c.Grows = []string{r.fill("{gen}"), r.env.path(tmpDir)}
	c.Dir = r.place(c.Dir)
	if r.Columns != nil && !r.Verbose && !c.Root && len(c.Argv) > 0 && filepath.Base(c.Argv[0]) == "uv" {
		c.Draws = 100 // wide enough for its bars
	}
	command := strings.Join(text.RedactArgv(brief(c.Argv), text.Secrets(slices.Concat(os.Environ(), os.Args))...), " ")
	if r.Verbose {
		r.say("$ %s", command)
	}
	for tries := 1; ; tries++ {
		log.Line("$ " + text.Printable(command))
		follow := r.screen.follow(r, i)
		if !c.Quiet {
			c.Out = follow
		}
		err = system.Run(ctx, c)
		follow.end()
		err = r.explain(i, err, r.env.path(name), tries)
		if c.Quiet || !r.again(ctx, err, tries) {
			break
		}
	}
	return errors.Join(err, log.Close(), ctx.Err())
}

// brief is argv as a person reads it: a program that is one of its words, as the proof
// of `python -c` is, is no line.
func brief(argv []string) []string {
	out := slices.Clone(argv)
	for i, a := range out {
		if lines := strings.Count(a, "\n"); lines > 0 {
			out[i] = fmt.Sprintf("(%d lines)", lines)
		}
	}
	return out
}

func (r *run) write(w *plan.Write) error {
	path := r.place(w.Path)
	if w.Before != "" {
		now, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(now); hex.EncodeToString(sum[:]) != w.Before && string(now) != r.fill(w.Content) {
			return &fail.Error{Code: fail.Stale, Text: path + " was changed since the plan was made", Hints: []string{"`envfix plan` makes a new one"}}
		}
	}
	return system.WriteFile(path, []byte(r.fill(w.Content)), os.FileMode(w.Mode))
}

func (r *run) block(b *plan.Block) error {
	path := r.place(b.Path)
	if strings.HasPrefix(b.Path, "{gen}/") { // conda's activate.d is there only where a package made it
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
	}
	changed, err := system.EditBlock(path, b.Name, text.Each(b.Lines, r.fill), system.Keep{Backup: b.Backup, Before: b.Before})
	if errors.Is(err, system.ErrChanged) {
		return &fail.Error{Code: fail.Stale, Text: path + " was changed since the plan was made", Hints: []string{"run the command again: it makes a new plan"}}
	}
	if err == nil && changed && b.Backup != "" {
		r.say("the file as it was is %s", b.Backup)
	}
	return err
}

// resume is the command that goes on, from whatever directory: nobody is in this one
// after a reboot.
func (e *Env) resume() string {
	command := "cd " + text.Command(filepath.Dir(e.Dir)) + " && envfix apply --resume"
	command += say.If(e.Name != ".venv", " --env "+text.Command(e.Name))
	return command
}

// manual stops where a person must act.
func (r *run) manual(s plan.Step) error {
	e := &fail.Error{Code: fail.Privilege, Text: s.Title, Details: strings.Split(s.Manual.Text, "\n"),
		Hints: []string{"when it is done: `" + r.env.resume() + "`"}}
	if s.Manual.Reboot {
		e.Code = fail.Reboot
		e.Hints = []string{"after the reboot: `" + r.env.resume() + "`"}
	}
	return e
}

// firstByHand stops before anything is begun where a person must act first: nothing is
// unfinished then, and another plan may follow.
func (r *run) firstByHand() error {
	s := r.plan.Steps[0]
	if s.Manual == nil || s.Manual.Reboot || r.Resume {
		return nil
	}
	return &fail.Error{Code: fail.Privilege, Text: s.Title, Details: append(strings.Split(s.Manual.Text, "\n"), "nothing was changed"),
		Hints: []string{"when it is done, the same command makes another plan, which goes on"}}
}

// switchTo completes the generation and makes it the environment.
func (r *run) switchTo(ctx context.Context, mid func() error) error {
	if err := inOrder(r.complete, mid, ctx.Err, func() error { return r.env.become(r.journal, r.gen) }, point("switched:before-record")); err != nil {
		return err
	}
	r.result.Generation = r.gen.ID
	return r.record(Entry{State: Switched})
}

// flush begins to write the generation to the disk while it is being verified:
// gigabytes take seconds.
func (r *run) flush() {
	if r.flushing != nil {
		return
	}
	done := make(chan error, 1)
	r.flushing = done
	go func() { done <- system.SyncAll(r.env.root) }()
}

// flushed waits for what flush began.
func (r *run) flushed() error {
	if r.flushing == nil {
		return nil
	}
	err := <-r.flushing
	r.flushing = nil
	return err
}

// complete makes the generation durable and then marks it: what the marker says
// must be on the disk before the marker is.
func (r *run) complete() error {
	sum, files, err := manifest(r.env.root, genPath(r.gen.ID))
	if err != nil {
		return err
	}
	r.gen.Manifest, r.gen.Files, r.gen.Created = sum, files, time.Now().UTC().Format(time.RFC3339)
	return inOrder(
		r.flushed,
		func() error { return system.SyncAll(r.env.root) },
		point("complete:before-marker"),
		func() error { return r.env.mark(r.gen) })
}
