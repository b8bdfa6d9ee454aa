package main

import (
	"cmp"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/version"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

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
