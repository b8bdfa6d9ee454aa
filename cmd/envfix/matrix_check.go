package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/maintain"
	"envfix/internal/ui"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

func matrixCheckAction(c *cli.Context) error {
	fsys, dir, err := maintain.Dir(c.Args().First())
	if err != nil {
		return err
	}
	faults := matrix.Check(fsys)
	m, _ := matrix.Load(fsys)
	if m != nil && m.Date > clockDay() {
		faults = append(faults, matrix.Fault{File: "data/matrix.yaml", Text: "date: " + m.Date + " has not come: today is " + clockDay()})
	}
	told, text := matrixCheckAnswer{Faults: append([]matrix.Fault{}, faults...), Format: 1, OK: len(faults) == 0}, ""
	if m != nil {
		told.Version, told.SHA256, text = m.Version, m.SHA256, ui.MatrixSummary(m)+"\n"
	}
	if c.Bool("json") || told.OK {
		return answer(c.App.Writer, c.Bool("json"), told, text, fail.CodeIf(!told.OK, fail.Failed))
	}
	var b strings.Builder
	for _, f := range faults {
		if dir != "" {
			f.File = filepath.Join(dir, strings.TrimPrefix(f.File, "data/"))
		}
		b.WriteString(ui.Clean(f.String()) + "\n")
	}
	if _, err := fmt.Fprint(c.App.Writer, b.String()); err != nil {
		return err
	}
	return fail.New(fail.Failed, fmt.Sprintf("the data has %s", ui.Count(len(faults), "fault")))
}

// A matrixCheckAnswer is the JSON of `envfix matrix check`.
type matrixCheckAnswer struct {
	Faults  []matrix.Fault `json:"faults"`
	Format  int            `json:"format"`
	OK      bool           `json:"ok"`
	SHA256  string         `json:"sha256"`
	Version string         `json:"version"`
}
