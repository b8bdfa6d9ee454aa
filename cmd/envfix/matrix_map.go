package main

import (
	"fmt"
	"io"

	"envfix/internal/chart"
	"envfix/internal/cmdline"
	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func matrixMapAction(c *cli.Context) error {
	if c.NArg() > 0 {
		return fail.Wrong("unexpected argument "+ui.Clip(c.Args().First(), 60), "`envfix matrix map --gpu V100`")
	}
	m := matrixFor()
	v, err := viewOf(cmdline.Given[describe.Machine](c))
	if err != nil {
		return err
	}
	drawn := chart.Make(m, v)
	if len(drawn.Rows) == 0 {
		return fail.Wrong("no build for a GPU is published for "+v.OS+" "+v.Arch,
			"`envfix matrix show` lists every release")
	}
	if file := c.String("html"); file != "" {
		title := "envfix: which GPU runs which torch, " + v.OS + " " + v.Arch
		foot := "Data " + m.Version + " of " + m.Date + ". Made by envfix matrix map."
		return writePage(file, []byte(drawn.Page(title, foot)), nil)
	}
	w := c.App.Writer
	_, err = io.WriteString(w, drawn.Text(style(w).Bold))
	if err == nil && len(drawn.Details()) > 0 {
		_, err = fmt.Fprint(w, "\n"+ui.Columns(ui.Pairs(drawn.Details()), 0))
	}
	return err
}

// viewOf reads the words: a machine described by them alone.
func viewOf(words describe.Machine) (chart.View, error) {
	h := machine.Machine{Format: machine.Format, Platform: machine.Platform{OS: "linux", Arch: "x86_64", Libc: &machine.Libc{Kind: "glibc"}}}
	if err := words.Override(&h); err != nil {
		return chart.View{}, err
	}
	if err := wholeDriver(&h); err != nil {
		return chart.View{}, err
	}
	v := chart.View{OS: h.Platform.OS, Arch: h.Platform.Arch, WSL: h.Platform.Environment == machine.WSL2, Today: today()}
	if len(words.GPUs) > 0 {
		v.GPUs = h.GPUs
	}
	if h.Driver != nil {
		v.Driver = h.Driver.Version
	}
	return v, nil
}
