package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"envfix/data"
	"envfix/internal/ui"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

func matrixCheckCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "validate the data: every fault at once",
		ArgsUsage: "[DIR]",
		Description: `DIR holds a matrix as the data directory of envfix's source does; without it, the
data that the program was built with is checked.

EXAMPLES
  envfix matrix check data

EXIT STATUS
  0  the data is in order
  1  it has faults, one per line: file:line: text`,
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print JSON"}},
		Action: matrixCheckAction,
	}
}

func matrixCheckAction(c *cli.Context) error {
	if err := noArguments(c, 1); err != nil {
		return err
	}
	fsys, dir, err := matrixDir(c.Args().First())
	if err != nil {
		return err
	}
	faults := matrix.Check(fsys)
	if _, more := matrix.Wheels(fsys); len(more) > 0 {
		faults = append(faults, more...)
	}
	m, _ := matrix.Load(fsys)
	if c.Bool("json") {
		err = writeCheck(c, m, faults)
	} else if len(faults) == 0 {
		_, err = fmt.Fprintln(c.App.Writer, summary(m))
	}
	if err != nil || len(faults) == 0 {
		return err
	}
	if !c.Bool("json") {
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
		return &failure{code: exitFailed, text: fmt.Sprintf("the data has %s", count(len(faults), "fault"))}
	}
	return &failure{code: exitFailed}
}

func writeCheck(c *cli.Context, m *matrix.Matrix, faults []matrix.Fault) error {
	type fault struct {
		File string `json:"file"`
		Line int    `json:"line"`
		Text string `json:"text"`
	}
	answer := map[string]any{"format": 1, "ok": len(faults) == 0, "version": "", "sha256": ""}
	if m != nil {
		answer["version"], answer["sha256"] = m.Version, m.SHA256
	}
	list := []fault{}
	for _, f := range faults {
		list = append(list, fault{f.File, f.Line, f.Text})
	}
	answer["faults"] = list
	return writeJSON(c.App.Writer, answer)
}

// matrixDir is a matrix's directory as a file system; without a name, what the
// program was built with. A directory that holds the data in its folder data is
// taken for that folder.
func matrixDir(name string) (fsys fs.FS, dir string, err error) {
	if name == "" {
		return data.FS, "", nil
	}
	for _, dir := range []string{name, filepath.Join(name, "data")} {
		if _, err := os.Stat(filepath.Join(dir, "matrix.yaml")); err == nil {
			return os.DirFS(dir), dir, nil
		}
	}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, "", &failure{code: exitUsage, text: ui.Clean(name) + " is not there"}
	}
	return nil, "", &failure{code: exitUsage, text: ui.Clean(name) + " holds no matrix: it has no matrix.yaml"}
}

// summary says what a matrix holds.
func summary(m *matrix.Matrix) string {
	builds := 0
	for _, r := range m.Releases {
		builds += len(r.Builds)
	}
	return fmt.Sprintf("matrix %s of %s is in order: %s of torch, %s, %s, %s, %s", m.Version, m.Date, count(len(m.Releases), "release"),
		count(builds, "build"), count(len(m.Extensions), "extension"), count(len(m.Libraries), "library"), count(len(m.Branches), "driver branch"))
}

// count writes a number with its noun in the right form.
func count(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	case strings.HasSuffix(noun, "ry"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
