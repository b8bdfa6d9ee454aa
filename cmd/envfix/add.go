package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/apply"
	"envfix/internal/fail"
	"envfix/internal/place"
	"envfix/internal/plan"
	"envfix/internal/project"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/text"

	"github.com/urfave/cli/v2"
)

func addCommand() *cli.Command {
	return amendCommand("add", "install packages besides, and hold torch and what it needs", "REQUIREMENT…", `Makes an environment that is the one in use, by hard links, with the packages in
it, has it prove itself, and puts it into use: "envfix rollback" goes back. It is
remembered as what "envfix apply" was asked for. Where a lock governs this
directory, it is "envfix lock add" and what that says; where a project lies here, it
is written into its pyproject.toml or requirements.txt, or by uv, poetry, pdm or pixi
where they keep its lock.

EXAMPLES
  envfix add rich
  envfix add 'transformers<5' accelerate`)
}

func removeCommand() *cli.Command {
	return amendCommand("remove", "take packages out of the environment", "PACKAGE…", `Makes an environment that is the one in use, by hard links, without the packages,
as "envfix add" does with more. What they needed stays.

EXAMPLES
  envfix remove rich`)
}

// amendCommand is apply with a few of its flags.
func amendCommand(name, usage, arguments, description string) *cli.Command {
	c := applyCommand()
	_, codes, _ := strings.Cut(c.Description, "\n\nEXIT STATUS")
	c.Name, c.Usage, c.ArgsUsage, c.Description = name, usage, arguments, description+"\n\nEXIT STATUS"+codes
	few := []string{"yes", "manager", "json", "verbose", "retries", "stall", "env", "offline", "mirror"}
	c.Flags = slices.DeleteFunc(c.Flags, func(f cli.Flag) bool { return !slices.Contains(few, f.Names()[0]) })
	c.Action = func(c *cli.Context) error { return apply.StateOf(amendAction(c, name), false) }
	return c
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
	if file := project.FirstWish("."); file != "" {
		return f.amendProject(c.Context, verb, names, file)
	}
	p, err := f.made.amended(c.Context, verb, "")
	if err != nil {
		return err
	}
	return f.oneRound(c.Context, p, false)
}

// amendLock changes what the lock is asked for, and makes the environment what it says.
func (f applyFlags) amendLock(c *cli.Context, verb string) error {
	change := say.Either(verb == "remove", lockRemoveCommand(), lockAddCommand())
	if err := change.Action(c); err != nil {
		return err
	}
	f.made.wish.Arguments, f.made.lock.exact = nil, verb == "remove"
	if err := f.rounds(c.Context); err != nil {
		said := *fail.Of(err)
		said.Details = append(said.Details, "the lock is written; the environment is as it was")
		return &said
	}
	return nil
}

// amendProject changes what the project here asks for, by its own tool where that keeps a
// lock, and makes the environment so; where that fails, the file is again what it was.
func (f applyFlags) amendProject(ctx context.Context, verb string, names []string, file string) error {
	for _, own := range [][3]string{
		{"uv.lock", "uv", "--no-sync"}, {"poetry.lock", "poetry", "--lock"}, {"pdm.lock", "pdm", "--no-sync"}, {project.PixiFile("."), "pixi", "--no-install"},
	} {
		if own[0] == "" || !project.IsFile(own[0]) {
			continue
		}
		argv := append([]string{own[1], verb, own[2]}, names...)
		path, err := exec.LookPath(own[1])
		if err != nil {
			return fail.New(fail.Failed, "this project is "+own[1]+"'s, which is not on PATH", "`"+text.Command(argv...)+"`, then `envfix apply .`")
		}
		argv[0] = path
		if err := system.Run(ctx, system.Command{Argv: argv, Out: stderr()}); err != nil {
			return err
		}
		return f.whole(ctx)
	}
	undo, err := project.Amend(file, names, verb == "remove")
	if err != nil {
		return err
	}
	dir, _, _ := place.Environment(f.made.target.env) // none is made
	if project.IsFile(filepath.Join(dir, "pyvenv.cfg")) {
		var p *plan.Plan
		if p, err = f.made.amended(ctx, verb, file); err == nil {
			err = f.oneRound(ctx, p, false)
		}
	} else {
		err = f.whole(ctx)
	}
	if err != nil {
		said := *fail.Of(err)
		said.Details = append(said.Details, file+" is as it was")
		return errors.Join(&said, undo())
	}
	return nil
}

// whole makes the environment what the project here says.
func (f applyFlags) whole(ctx context.Context) error {
	f.made.wish.Arguments = []string{"."}
	if err := f.made.project(true); err != nil {
		return err
	}
	return f.rounds(ctx)
}

// amended plans the environment in use with packages more or fewer, which a file of the
// project asks for; "" it is a wish.
func (f planFlags) amended(ctx context.Context, verb, file string) (*plan.Plan, error) {
	dir, _, err := place.Environment(f.target.env)
	if err != nil {
		return nil, err
	}
	if !project.IsFile(filepath.Join(dir, "pyvenv.cfg")) {
		return nil, fail.Wrong(f.target.env+" is an environment of conda's, which envfix does not copy", "`conda install` changes it")
	}
	q, w, err := f.question(ctx)
	if err != nil {
		return nil, err
	}
	p, err := q.Amend(w, q.Request.Requirements, verb == "remove")
	if err == nil && file != "" {
		p.Wish = q.Wish
		err = plan.Seal(p)
	}
	return p, err
}
