package main

import (
	"fmt"
	"strings"

	"envfix/internal/cmdline"
	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/ui"
	"envfix/internal/version"

	"github.com/urfave/cli/v2"
)

func matrixCommand() *cli.Command {
	return above(declared("matrix", nil),
		declared("matrix show", matrixShowAction),
		declared("matrix map", matrixMapAction),
		declared("matrix command", matrixInstallAction),
		declared("matrix prove", matrixProveAction),
		matrixHarvestCommand(),
		declared("matrix check", cmdline.Taking(1, matrixCheckAction)),
		declared("matrix diff", cmdline.Taking(2, matrixDiffAction)),
		matrixUpdateCommand())
}

// torchArgument reads the one optional argument of most matrix commands: torch,
// torch==2.9.1, torch>=2.8, torch==2.9.1+cu126 or a bare 2.9.1.
func torchArgument(c *cli.Context) (spec version.Specifier, label string, err error) {
	if c.NArg() > 1 {
		return spec, "", fail.Wrong("one requirement at most: " + ui.Clip(c.Args().Get(1), 60) + " is too much")
	}
	text := strings.ReplaceAll(c.Args().First(), " ", "")
	rest := strings.TrimPrefix(text, "torch")
	if rest != "" && '0' <= rest[0] && rest[0] <= '9' {
		rest = "==" + rest
	}
	rest, label = version.SplitLocal(rest)
	spec, err = version.ParseSpecifier(rest)
	if err != nil || (label != "" && !describe.IsBuild(label)) {
		return spec, "", fail.Wrong(fmt.Sprintf("%q is no requirement of torch", ui.Clip(text, 60)),
			"`envfix matrix "+c.Command.Name+" torch==2.9.1`")
	}
	return spec, label, nil
}
