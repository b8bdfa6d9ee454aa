package main

import (
	"cmp"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"

	"envfix/internal/apply"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/place"
	"envfix/internal/plan"
	"envfix/internal/project"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/text"
	"envfix/internal/xslices"

	"github.com/urfave/cli/v2"
)

// amendCommand is apply with a few of its flags.
func amendCommand(name string) *cli.Command {
	return declared(name, func(c *cli.Context) error { return apply.StateOf(amendAction(c, name), false) })
}

func amendAction(c *cli.Context, verb string) error {
	if did, err := asInvoker(); did {
		return err
	}
	f, err := applyOf(c)
	if err != nil {
		return err
	}
	names := c.Args().Slice()
	if len(names) == 0 {
		return fail.Wrong("`envfix "+verb+"` needs a package", "`envfix "+verb+" rich`")
	}
	if governing() != "" {
		return f.amendLock(c, verb)
	}
	if file := cmp.Or(project.PixiFile("."), project.FirstWish(".")); file != "" {
		return f.amendProject(c.Context, verb, names, file)
	}
	p, err := f.made.amended(c.Context, verb, "", nil)
	if err != nil {
		return err
	}
	return f.oneRound(c.Context, p, false)
}

// amendLock changes what the lock is asked for, and makes the environment what it says.
func (f applyFlags) amendLock(c *cli.Context, verb string) error {
	f.made.wish.Arguments, f.made.lock.exact = nil, verb == "remove"
	if _, err := f.made.make(c.Context); err != nil && fail.Of(err).Code == fail.NoSolution {
		said := *fail.Of(err) // before anything is written
		alone := text.Command(append([]string{"envfix", "lock", verb}, c.Args().Slice()...)...)
		said.Hints = append([]string{"`" + alone + "` changes the lock alone"}, said.Hints...)
		return &said
	}
	change := say.Either(verb == "remove", lockRemoveCommand(), lockAddCommand())
	if err := change.Action(c); err != nil {
		return err
	}
	if err := f.rounds(c.Context); err != nil {
		said := *fail.Of(err)
		said.Details = append(said.Details, "the lock is written; the environment is as it was")
		return &said
	}
	return nil
}

// ownTools keep the list of a project, and its lock: the lock, the program, what has it leave
// the environment alone, and its command that makes that what the lock says.
var ownTools = [][4]string{{"uv.lock", "uv", "--no-sync", "uv sync --locked"}, {"poetry.lock", "poetry", "--lock", "poetry sync"},
	{"pdm.lock", "pdm", "--no-sync", "pdm sync --clean"}, {"pixi.lock", "pixi", "--no-install", "pixi install --locked"}}

// amendProject changes what the project here asks for, by its own tool where that keeps its
// list, and makes the environment so; where that fails, its files are again what they were.
func (f applyFlags) amendProject(ctx context.Context, verb string, names []string, file string) error {
	if _, err := f.made.amended(ctx, verb, file, nil); err != nil {
		return err // before anything is written
	}
	change, files := func() error { return project.Amend(file, names, verb == "remove") }, []string{file}
	if own, ok := xslices.Find(ownTools, func(own [4]string) bool { return project.KeptBy(file, own[0], own[1]) }); ok {
		change, files = func() error { return ownTool(ctx, append([]string{own[1], verb, own[2]}, names...)) }, []string{file, own[0]}
	}
	undo, err := project.Keep(files)
	if err != nil {
		return err
	}
	if err = change(); err == nil {
		err = f.follow(ctx, verb, file, names)
	}
	if err != nil {
		said := *fail.Of(err)
		said.Details = append(said.Details, text.Each(files, func(name string) string { return name + " is as it was" })...)
		return errors.Join(&said, undo())
	}
	return nil
}

// ownTool runs a project's own tool: that of PATH, else the one that envfix brought.
func ownTool(ctx context.Context, argv []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		path = system.OwnTool(system.ToolsDir(), argv[0])
	}
	if path == "" {
		return fail.New(fail.Failed, "this project is "+argv[0]+"'s, which is not on PATH", "`"+text.Command(argv...)+"`, then `envfix apply .`")
	}
	return system.Run(ctx, system.Command{Argv: append([]string{path}, argv[1:]...), Out: stderr()})
}

// follow makes the environment what the project here says now: with few packages more or
// fewer where its torch is the one that is there.
func (f applyFlags) follow(ctx context.Context, verb, file string, names []string) error {
	whole := f
	whole.made.wish.Arguments = []string{"."}
	if verb == "remove" { // it is not carried over as what nobody asks for
		whole.made.target.Drop = names
	}
	if err := whole.made.project(true); err != nil {
		return err
	}
	p, err := f.made.amended(ctx, verb, file, whole.made.wish.Lock)
	switch {
	case err != nil:
		return err
	case p == nil:
		return whole.rounds(ctx)
	}
	return f.oneRound(ctx, p, false)
}

// amended plans the environment in use with packages more or fewer, which a file of the
// project asks for, in the versions of its lock; "" it is a wish. nil: what the project asks
// for is chosen as a whole.
func (f planFlags) amended(ctx context.Context, verb, file string, lock *pyproject.OwnLock) (*plan.Plan, error) {
	dir, _, err := place.Environment(f.target.env)
	switch known := err == nil && project.IsFile(filepath.Join(dir, "pyvenv.cfg")); {
	case file != "" && (!known || file == project.PixiFile(".")):
		return nil, nil
	case err != nil:
		return nil, err
	case !known:
		return nil, fail.Wrong(f.target.env+" is an environment of conda's, which envfix does not copy", "`conda install` changes it")
	}
	q, w, err := f.question(ctx)
	if err != nil || file != "" && !slices.ContainsFunc(q.Target.Held.Dists, func(d machine.HeldDist) bool { return d.Name == "torch" }) {
		return nil, err
	}
	if lock != nil {
		q.Target.Pins = text.Each(lock.Pins, pep508.Requirement.Line)
	}
	p, err := q.Amend(w, q.Request.Requirements, verb == "remove")
	if err == nil && lock != nil && lock.Undoes(&p.Choice) != "" {
		return nil, nil
	}
	if err == nil && file != "" {
		p.Wish = q.Wish
		err = plan.Seal(p)
	}
	return p, err
}
