package main

import (
	"fmt"
	"slices"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

func matrixShowAction(c *cli.Context) error {
	spec, label, err := torchArgument(c)
	if err != nil {
		return err
	}
	m := matrixFor()
	var gpu machine.GPU
	if c.IsSet("gpu") {
		if gpu, err = describe.GPU(c.String("gpu")); err != nil {
			return err
		}
		if gpu.SM.IsZero() {
			return fail.Wrong("only NVIDIA GPUs are told apart here: "+ui.Clean(gpu.Name)+" is none",
				"`envfix plan --gpu …` knows the builds for the others")
		}
	}
	keep := func(b *matrix.Build) bool {
		return (label == "" || b.Label == label) && (!c.IsSet("os") || b.OS == c.String("os")) && (!c.IsSet("arch") || b.Arch == c.String("arch"))
	}
	admitted := xslices.Filter(m.Releases, func(r *matrix.Release) bool { return spec.Admits(r.Torch) })
	list := text.Each(admitted, func(r *matrix.Release) ui.ShownRelease { return ui.PickBuilds(m, r, gpu.SM, keep) })
	list = slices.DeleteFunc(list, func(r ui.ShownRelease) bool { return len(r.Builds) == 0 })
	if len(list) == 0 {
		return nothingToShow(m, spec, gpu)
	}
	switch {
	case c.Bool("json"):
		return writeJSON(c.App.Writer, ui.MatrixShow(m, list))
	case c.NArg() == 0 || len(list) > 3:
		_, err = fmt.Fprint(c.App.Writer, ui.Releases(list, gpu))
	default:
		_, err = fmt.Fprint(c.App.Writer, ui.Builds(m, list, gpu))
	}
	return err
}

func nothingToShow(m *matrix.Matrix, spec version.Specifier, gpu machine.GPU) error {
	text := "the matrix has no such build"
	switch _, err := newestRelease(m, spec); {
	case err != nil:
		text = unknownTorch(m, spec)
	case !gpu.SM.IsZero():
		text = fmt.Sprintf("no build asked for has code for %s (compute capability %s)", ui.Clean(gpu.Name), gpu.SM)
	}
	return fail.New(fail.NoSolution, text, "`envfix matrix show` lists every release")
}

func unknownTorch(m *matrix.Matrix, spec version.Specifier) string {
	return fmt.Sprintf(
		"the matrix knows no torch %s; it knows %s to %s",
		ui.Clip(spec.String(), 60),
		m.Releases[len(m.Releases)-1].Torch,
		m.Releases[0].Torch,
	)
}
