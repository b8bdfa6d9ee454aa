package main

import (
	"cmp"
	"path/filepath"

	"envfix/internal/fail"
	"envfix/internal/maintain"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func matrixDiffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "what a change of the data changes, and for which recorded machines",
		ArgsUsage: "OLD [NEW]",
		Description: `OLD and NEW are directories of data or revisions of git; NEW is the working
directory's data where it is not named. Every recorded machine is planned for
with both, and those that would get another answer are listed.

EXAMPLES
  envfix matrix diff HEAD
  envfix matrix diff v1.2.0 v1.3.0
  envfix matrix diff /tmp/old-data data --machines facts/`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "machines", Usage: "read the machines in `DIR`, files of envfix facts --json",
				Value: filepath.Join("cmd", "envfix", "testdata", "machines")},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
		},
		Action: matrixDiffAction,
	}
}

func matrixDiffAction(c *cli.Context) error {
	if c.NArg() == 0 {
		return fail.Wrong("what is to be compared with the data here?", "`envfix matrix diff HEAD`")
	}
	if err := noArguments(c, 2); err != nil {
		return err
	}
	recorded := maintain.Recorded{Dir: c.String("machines"), Asked: c.IsSet("machines"), Today: today()}
	x, err := maintain.Compare(c.Context, c.Args().Get(0), cmp.Or(c.Args().Get(1), "data"), recorded)
	if err != nil {
		return err
	}
	return answer(c.App.Writer, c.Bool("json"), diffJSON(x), ui.MatrixDiff(x.Changes, x.Files, x.Machines, answerLines(x.Answers)), fail.OK)
}

// answerLines are the machines that get another answer: name, old and new.
func answerLines(all []maintain.Answer) [][3]string {
	var out [][3]string
	for _, a := range all {
		out = append(out, [3]string{a.Machine, a.Old, a.New})
	}
	return out
}

func diffJSON(x *maintain.Comparison) any {
	list := []changeJSON{}
	for _, c := range x.Changes {
		list = append(list, changeJSON{c.Table, c.Row, c.Field, c.Old, c.New})
	}
	return matrixDiffAnswer{append([]maintain.Answer{}, x.Answers...), list, append([]string{}, x.Files...), 1, x.Machines}
}

// A matrixDiffAnswer is the JSON of `envfix matrix diff`.
type matrixDiffAnswer struct {
	Answers  []maintain.Answer `json:"answers"`
	Changes  []changeJSON      `json:"changes"`
	Files    []string          `json:"files"`
	Format   int               `json:"format"`
	Machines int               `json:"machines"`
}

type changeJSON struct {
	Table string `json:"table"`
	Row   string `json:"row"`
	Field string `json:"field,omitempty"`
	Old   string `json:"old"`
	New   string `json:"new"`
}
