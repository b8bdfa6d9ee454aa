package main

import (
	"path/filepath"

	"envfix/internal/bring"
	"envfix/internal/fail"

	"github.com/urfave/cli/v2"
)

// defaultIndex is the address of pip's own default index, which the linker sets: it is
// asked for uv where neither uv nor a Python is there that would know it. "" none.
var defaultIndex string

// bringCommand is what a plan's first steps run on a machine that has neither uv nor a
// Python: it brings one of them among envfix's own tools, without root.
func bringCommand() *cli.Command {
	return &cli.Command{Name: "__bring", Hidden: true, Usage: "bring uv, or a Python, among envfix's own tools",
		Flags: []cli.Flag{&cli.StringFlag{Name: "default-index"}},
		Action: func(c *cli.Context) error {
			switch what, dir := c.Args().Get(0), c.Args().Get(1); {
			case c.NArg() != 2 || !filepath.IsAbs(dir):
			case what == "uv":
				return bring.UV(c.Context, c.String("default-index"), dir, stdout())
			case what == "python":
				return bring.Python(c.Context, dir)
			}
			return fail.New(fail.Usage, "`envfix __bring` is for `envfix apply` to run")
		}}
}
