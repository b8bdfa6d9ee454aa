package main

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"envfix/installers"
	"envfix/internal/fail"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func execCommand() *cli.Command {
	return &cli.Command{
		Name:      "exec",
		Usage:     "run a command in the environment",
		ArgsUsage: "-- COMMAND [ARGUMENT…]",
		Description: `Runs a command with what "envfix env" prints: the environment's programs first on
PATH, and nothing that would replace torch's own libraries. "envfix run" does the
same job and says why the GPU idles.

EXAMPLES
  envfix exec -- python train.py
  envfix exec --env ~/envs/torch -- torchrun --nproc-per-node 2 train.py

EXIT STATUS
  The command's own; 1: there is no environment, or no such command; 2: usage.`,
		Flags: []cli.Flag{envFlag()},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return fail.Wrong("`envfix exec` needs a command", "`envfix exec -- python`")
			}
			at := placeOf(c)
			dir, bin, err := environment(at.dir)
			if err != nil {
				return err
			}
			h := thisMachine(c.Context, at.dir, false)
			for _, a := range assignments(h, dir, bin, installers.InstalledFixes(matrixFor(), h)) {
				if err := assign(a); err != nil {
					return err
				}
			}
			return become(c.Args().Slice())
		},
	}
}

// assign changes our own environment as a shell would.
func assign(a ui.Assignment) error {
	switch a.Kind {
	case ui.Unset:
		return os.Unsetenv(a.Name)
	case ui.Prepend:
		if old := os.Getenv(a.Name); old != "" { // an empty element would be the working directory
			a.Value += string(os.PathListSeparator) + old
		}
	}
	return os.Setenv(a.Name, a.Value)
}

// become is argv from here on; Windows has no such call, and waits for it.
func become(argv []string) error {
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return fail.New(fail.Failed, ui.Clean(err.Error()), "`envfix add` installs packages, and their programs")
	}
	if runtime.GOOS != "windows" {
		return syscall.Exec(program, argv, os.Environ())
	}
	cmd := exec.Command(program, argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	var ended *exec.ExitError
	if err = cmd.Run(); errors.As(err, &ended) {
		return &fail.Error{Code: ended.ExitCode()}
	}
	return err
}
