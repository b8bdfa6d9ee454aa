package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"envfix/installers"
	"envfix/internal/cmdline"
	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func envCommand() *cli.Command {
	return &cli.Command{
		Name:  "env",
		Usage: "print the shell lines that put the environment into use",
		Description: `Prints lines for a shell to evaluate: the environment's programs first on PATH,
and LD_LIBRARY_PATH, LD_PRELOAD, PYTHONPATH and CUDA_VISIBLE_DEVICES without what
would replace torch's own libraries or hide GPUs. LD_LIBRARY_PATH is never
extended: it is searched before the libraries that torch brings.

EXAMPLES
  eval "$(envfix env)"
  envfix env --shell fish | source
  envfix env --shell powershell | Out-String | Invoke-Expression
  eval "$(envfix env --variants)"

With --variants it prints instead the two variables that make uv's preview of wheel
variants choose the build that envfix chooses, or says that none do. That preview
reads drafts (PEP 825, PEP 850), and forgets silently: with one variable alone, or a
driver that is too old, it installs a CPU build.

EXIT STATUS
  0  the lines are on standard output
  1  there is no environment
  2  usage
  3  with --variants: no values choose the build`,
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "variants", Usage: "print what makes uv's preview of wheel variants choose as envfix does"},
			&cli.StringFlag{Name: "shell", Usage: "write for `SHELL`: sh, fish or powershell (default: that of $SHELL)"},
			envFlag(),
		}, describeFlags()...),
		Action: cmdline.Taking(0, envAction),
	}
}

func envAction(c *cli.Context) error {
	shell := cmp.Or(c.String("shell"), defaultShell())
	if !ui.IsShell(shell) {
		return describe.BadValue("shell", shell, "write `sh` (for bash and zsh too), `fish` or `powershell`")
	}
	if c.Bool("variants") {
		return variantsAction(c, shell)
	}
	for _, f := range describeFlags() {
		if c.IsSet(f.Names()[0]) {
			return fail.Wrong("`--"+f.Names()[0]+"` describes another machine; these lines are for this one",
				"`envfix env --variants` takes it")
		}
	}
	m := matrixFor()
	at := placeOf(c)
	dir, bin, err := environment(at.dir)
	if err != nil {
		return err
	}
	link, err := filepath.Abs(at.dir) // not what it stands for now: a shell follows the next switch
	if err != nil {
		return err
	}
	h := thisMachine(c.Context, at.dir, false)
	dir, bin = link, link+strings.TrimPrefix(bin, dir)
	return writeForm(c.App.Writer, text.Form("%s# %s\n", ui.Assignments(shell, assignments(h, dir, bin, installers.InstalledFixes(m, h))),
		text.Comment(at.line()))) // a comment in all three
}

func defaultShell() string {
	switch {
	case runtime.GOOS == "windows":
		return "powershell"
	case filepath.Base(os.Getenv("SHELL")) == "fish":
		return "fish"
	}
	return "sh"
}

// environment returns the environment that name stands for now, and its
// directory of programs. The link is resolved: a shell stays with the environment
// that it was started with, also after the next switch.
func environment(name string) (dir, bin string, err error) {
	missing := func(err error) error {
		makes := []string{"envfix", "apply"}
		if name != defaultEnv {
			makes = append(makes, "--env", name)
		}
		return &fail.Error{Code: fail.Failed, Text: fmt.Sprintf("%s is not an environment", ui.Clean(name)), Err: err,
			Hints: []string{"`" + ui.Clean(text.Command(makes...)) + "` makes it"}}
	}
	dir, err = filepath.Abs(name)
	if err != nil {
		return "", "", missing(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", "", missing(err)
	}
	for _, python := range []string{"bin/python", "Scripts/python", "Scripts/python.exe", "python.exe"} {
		if _, err := os.Stat(filepath.Join(dir, python)); err == nil {
			return dir, filepath.Dir(filepath.Join(dir, python)), nil
		}
	}
	return "", "", missing(nil)
}

// wslLibraries is where WSL puts the Windows driver's programs and libraries.
const wslLibraries = "/usr/lib/wsl/lib"

// assignments is what a shell needs for the environment in dir.
func assignments(h machine.Machine, dir, bin string, fixes []plan.EnvFix) []ui.Assignment {
	sep := string(os.PathListSeparator)
	path := strings.Split(os.Getenv("PATH"), sep)
	kind := say.Either(pathExists(filepath.Join(dir, "pyvenv.cfg")), "VIRTUAL_ENV", "CONDA_PREFIX")
	out := []ui.Assignment{{Name: kind, Value: dir}}
	first := []string{bin}
	if h.Platform.Environment == machine.WSL2 && !slices.Contains(path, wslLibraries) {
		first = append(first, wslLibraries) // nvidia-smi lies there
	}
	if path[0] != bin {
		out = append(out, ui.Assignment{Name: "PATH", Value: strings.Join(first, sep), Kind: ui.Prepend})
	}
	var done []string
	for _, f := range fixes {
		if slices.Contains(done, f.Variable) {
			continue
		}
		done = append(done, f.Variable)
		a := ui.Assignment{Name: f.Variable, Value: f.Value}
		if f.Action == "remove" {
			a.Value = installers.Without(os.Getenv(f.Variable), sep, f.Variable, fixes)
			if a.Value == "" {
				a.Kind = ui.Unset
			}
		}
		out = append(out, a)
	}
	return out
}
