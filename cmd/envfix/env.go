package main

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"envfix/installers"
	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/place"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/matrix"
	"envfix/resolver"

	"github.com/urfave/cli/v2"
)

func envAction(c *cli.Context) error {
	shell := cmp.Or(c.String("shell"), place.ShellName())
	if !ui.IsShell(shell) {
		return describe.BadValue("shell", shell, "write `sh` (for bash and zsh too), `fish` or `powershell`")
	}
	if c.Bool("variants") {
		return variantsAction(c, shell)
	}
	for _, f := range sharing("another machine") {
		if c.IsSet(f.Names()[0]) {
			return fail.Wrong("`--"+f.Names()[0]+"` describes another machine; these lines are for this one",
				"`envfix env --variants` takes it")
		}
	}
	m := matrixFor()
	at := placeOf(c)
	dir, bin, err := standing(c.Context, at.Dir)
	if err != nil {
		return err
	}
	link, err := filepath.Abs(at.Dir) // not what it stands for now: a shell follows the next switch
	if err != nil {
		return err
	}
	h := thisMachine(c.Context, at.Dir, false)
	dir, bin = link, link+strings.TrimPrefix(bin, dir)
	return writeForm(c.App.Writer, text.Form("%s# %s\n", ui.Assignments(shell, place.Assignments(h, dir, bin, installers.InstalledFixes(m, h))),
		text.Comment(at.Line()))) // a comment in all three
}

// variantsAction prints the variables that make uv's preview of wheel variants choose
// what envfix chooses.
func variantsAction(c *cli.Context, shell string) error {
	f, err := planOf(c, shows)
	if err != nil {
		return err
	}
	q, w, err := f.question(c.Context)
	if err != nil {
		return err
	}
	q.Machine = w.Tools(q.Machine)
	res, err := q.Choose()
	if err != nil {
		return err
	}
	force, err := variantOf(q.Matrix, q.Machine, res)
	if err != nil {
		return err
	}
	set := ui.Assignments(shell, []ui.Assignment{
		{Name: installers.VariantCUDA, Value: force.CUDA}, {Name: installers.VariantSM, Value: force.SM.String()},
	})
	return writeForm(c.App.Writer, text.Form("# uv's preview of wheel variants then takes torch %[1]s %[2]s:\n#   uv pip install --preview-features wheel-variants torch==%[1]s\n%[3]s",
		text.Word(res.Choice.Torch), text.Word(res.Choice.Build), set))
}

// variantOf is what makes uv choose the build of a resolution; its error says why
// nothing does.
func variantOf(m *matrix.Matrix, h machine.Machine, res *resolver.Resolution) (installers.VariantForce, error) {
	none := func(why string) (installers.VariantForce, error) {
		return installers.VariantForce{}, fail.New(fail.NoSolution, "no values of uv's variables choose it: "+why,
			"`envfix plan` prints the commands that need no variants")
	}
	if res.Choice == nil {
		return none("nothing is chosen for this machine as it is")
	}
	release, ok := m.Release(res.Choice.Torch)
	if !ok {
		return none("torch " + res.Choice.Torch + " is not in the data")
	}
	all := text.Each(h.GPUs, func(g machine.GPU) machine.SM { return g.SM })
	sms := slices.DeleteFunc(all, machine.SM.IsZero)
	if b, ok := release.Build(res.Choice.Build, h.Platform.OS, h.Platform.Arch); ok {
		if f, ok := installers.Variant(b, sms); ok {
			return f, nil
		}
		if b.CUDA.IsZero() {
			return none("torch " + res.Choice.Torch + " " + b.Label + " is no CUDA build, and others have no variant there")
		}
	}
	return none("torch " + res.Choice.Torch + " " + res.Choice.Build + " cannot be told from another build for the same CUDA")
}
