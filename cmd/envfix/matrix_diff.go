package main

import (
	"cmp"

	"envfix/internal/fail"
	"envfix/internal/maintain"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

func matrixDiffAction(c *cli.Context) error {
	if c.NArg() == 0 {
		return fail.Wrong("what is to be compared with the data here?", "`envfix matrix diff HEAD`")
	}
	recorded := maintain.Recorded{Dir: c.String("machines"), Asked: c.IsSet("machines"), Today: today()}
	x, err := maintain.Compare(c.Context, c.Args().Get(0), cmp.Or(c.Args().Get(1), "data"), recorded)
	if err != nil {
		return err
	}
	told := matrixDiffAnswer{append([]maintain.Answer{}, x.Answers...), append([]matrix.Change{}, x.Changes...), append([]string{}, x.Files...), 1, x.Machines}
	lines := text.Each(x.Answers, func(a maintain.Answer) [3]string { return [3]string{a.Machine, a.Old, a.New} })
	return answer(c.App.Writer, c.Bool("json"), told, ui.MatrixDiff(x.Changes, x.Files, x.Machines, lines), fail.OK)
}

// A matrixDiffAnswer is the JSON of `envfix matrix diff`.
type matrixDiffAnswer struct {
	Answers  []maintain.Answer `json:"answers"`
	Changes  []matrix.Change   `json:"changes"`
	Files    []string          `json:"files"`
	Format   int               `json:"format"`
	Machines int               `json:"machines"`
}
