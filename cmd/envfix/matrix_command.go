package main

import (
	"cmp"
	"runtime"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

func matrixInstallCommand() *cli.Command {
	here, _ := machine.NormalPlatform(runtime.GOOS, runtime.GOARCH)
	return &cli.Command{
		Name:      "command",
		Usage:     "print the install command that PyTorch publishes for a release",
		ArgsUsage: "[torch==VERSION]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
			&cli.StringFlag{Name: "os", Usage: "`SYSTEM`: linux, windows or macos", Value: here},
			&cli.StringFlag{Name: "tool", Usage: "`TOOL`: pip or conda", Value: "pip"},
			&cli.StringFlag{Name: "build", Usage: "`BUILD`: cu126, cpu, rocm7.2, xpu, mps (default: what the default index has)"},
		},
		Action: matrixInstallAction,
	}
}

func matrixInstallAction(c *cli.Context) error {
	spec, label, err := torchArgument(c)
	if err != nil {
		return err
	}
	m := matrixFor()
	r, err := newestRelease(m, spec)
	if err != nil {
		return err
	}
	build := cmp.Or(c.String("build"), label, defaultBuild(r, c.String("os")))
	argv, err := matrix.InstallCommand(m, r.Torch.String(), build, c.String("os"), c.String("tool"))
	if err != nil {
		return fail.New(fail.NoSolution, err.Error())
	}
	return answer(c.App.Writer, c.Bool("json"), matrixCommandAnswer{1, argv}, strings.Join(argv, " ")+"\n", fail.OK)
}

// newestRelease returns the newest release that a specifier admits.
func newestRelease(m *matrix.Matrix, spec version.Specifier) (*matrix.Release, error) {
	for _, r := range m.Releases {
		if spec.Admits(r.Torch) {
			return r, nil
		}
	}
	return nil, fail.New(fail.NoSolution, unknownTorch(m, spec))
}

// defaultBuild is the build that the default index carries for a system.
func defaultBuild(r *matrix.Release, os string) string {
	for _, b := range r.Builds {
		if b.OS == os && b.Default && b.Arch != "aarch64" {
			return b.Label
		}
	}
	return "cpu"
}

// A matrixCommandAnswer is the JSON of `envfix matrix command`.
type matrixCommandAnswer struct {
	Format int      `json:"format"`
	Argv   []string `json:"argv"`
}
