package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/ui"
	"envfix/matrix"
	"envfix/resolver"

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
			&cli.StringFlag{Name: "machines", Usage: "read the machines in `DIR`, files of envfix facts --json", Value: filepath.Join("cmd", "envfix", "testdata", "machines")},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
		},
		Action: matrixDiffAction,
	}
}

// A machineChange is a recorded machine that gets another answer.
type machineChange struct {
	Machine string `json:"machine"`
	Old     string `json:"old"`
	New     string `json:"new"`
}

func matrixDiffAction(c *cli.Context) error {
	if c.NArg() == 0 {
		return &failure{code: exitUsage, text: "what is to be compared with the data here?", hints: []string{"`envfix matrix diff HEAD`"}}
	}
	if err := noArguments(c, 2); err != nil {
		return err
	}
	oldFS, err := revision(c.Context, c.Args().Get(0))
	if err != nil {
		return err
	}
	newFS, err := revision(c.Context, cmp.Or(c.Args().Get(1), "data"))
	if err != nil {
		return err
	}
	before, err := loadBoth(c.Args().Get(0), oldFS)
	if err != nil {
		return err
	}
	after, err := loadBoth(cmp.Or(c.Args().Get(1), "data"), newFS)
	if err != nil {
		return err
	}
	changes := matrix.Diff(before, after)
	files := otherFiles(oldFS, newFS)
	machines, total, err := otherAnswers(c.String("machines"), c.IsSet("machines"), before, after)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return writeJSON(c.App.Writer, diffJSON(changes, files, machines, total))
	}
	_, err = fmt.Fprint(c.App.Writer, diffText(changes, files, machines, total))
	return err
}

// revision is the data of a directory, or of a revision of the git repository
// here.
func revision(ctx context.Context, name string) (fs.FS, error) {
	fsys, _, err := matrixDir(name)
	if err == nil {
		return fsys, nil
	}
	if _, statErr := os.Stat(name); statErr == nil || strings.HasPrefix(name, "-") {
		return nil, err
	}
	tree := strings.TrimSpace(output(ctx, "git", "rev-parse", "--verify", "--quiet", "--end-of-options", name+":data"))
	if tree == "" {
		return nil, &failure{code: exitUsage, text: fmt.Sprintf("%q is neither a directory of data nor a revision of git that has one", ui.Clip(name, 60))}
	}
	b, err := exec.CommandContext(ctx, "git", "archive", "--format=zip", tree).Output()
	if err != nil {
		return nil, &failure{code: exitFailed, text: "git archive: " + ui.Clean(err.Error())}
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, &failure{code: exitFailed, text: "git archive: " + ui.Clean(err.Error())}
	}
	return z, nil
}

func loadBoth(name string, fsys fs.FS) (*matrix.Matrix, error) {
	m, err := matrix.LoadLax(fsys)
	if err != nil {
		return nil, &failure{code: exitUsage, text: "the data of " + ui.Clean(name) + " is not in order", details: strings.Split(ui.CleanLines(err.Error()), "\n"), hints: []string{"`envfix matrix check DIR` lists every fault"}}
	}
	return m, nil
}

// otherFiles lists data files that are no part of a matrix (messages, checks, the
// device table) and differ.
func otherFiles(before, after fs.FS) []string {
	var names []string
	for _, fsys := range []fs.FS{before, after} {
		entries, err := fs.ReadDir(fsys, ".")
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !e.IsDir() && !matrix.Reads(e.Name()) && !slices.Contains([]string{".go", ".bin"}, filepath.Ext(e.Name())) && !slices.Contains(names, e.Name()) {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(n string) bool {
		a, errA := fs.ReadFile(before, n)
		b, errB := fs.ReadFile(after, n)
		return (errA == nil) == (errB == nil) && bytes.Equal(a, b)
	})
}

// otherAnswers plans for every recorded machine with both matrices.
func otherAnswers(dir string, asked bool, before, after *matrix.Matrix) (list []machineChange, total int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !asked {
		return nil, 0, nil // not in a checkout of envfix
	}
	if err != nil {
		return nil, 0, &failure{code: exitUsage, text: ui.Clean(err.Error())}
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, 0, &failure{code: exitUsage, text: ui.Clean(err.Error())}
		}
		h, err := machine.Decode(text)
		if err != nil {
			return nil, 0, badFacts(filepath.Join(dir, e.Name()), err)
		}
		a, err := answer(before, h)
		if err != nil {
			return nil, 0, err
		}
		b, err := answer(after, h)
		if err != nil {
			return nil, 0, err
		}
		total++
		if a != b {
			list = append(list, machineChange{ui.Clean(name), a, b})
		}
	}
	return list, total, nil
}

// answer is what a machine would be told, in one line.
func answer(m *matrix.Matrix, h machine.Machine) (string, error) {
	res, err := resolver.Resolve(m, h, resolver.Request{Today: today(), Described: true})
	if err != nil {
		return "", err
	}
	words := []string{string(res.Decision)}
	add := func(name string, c *resolver.Choice) {
		if c == nil {
			return
		}
		words = append(words, name+c.Torch+"+"+c.Build, "python "+c.Python)
		for _, p := range []string{"torchvision", "torchaudio"} {
			if v, ok := c.Packages[p]; ok {
				words = append(words, p+" "+v)
			}
		}
	}
	add("torch ", res.Choice)
	add("then ", res.Then)
	add("fallback ", res.Fallback)
	for _, e := range res.Environments {
		add("also ", e.Choice)
	}
	if d := res.Driver; d.Action != "" && d.Action != "keep" && d.Action != "none" {
		words = append(words, strings.TrimSpace("driver "+d.Action+" "+d.Branch))
	}
	return strings.Join(words, ", "), nil
}

func diffText(changes []matrix.Change, files []string, machines []machineChange, total int) string {
	var b strings.Builder
	const most = 200
	for i, c := range changes {
		if i == most {
			fmt.Fprintf(&b, "and %d more (--json has all)\n", len(changes)-most)
			break
		}
		b.WriteString(ui.Clean(c.String()) + "\n")
	}
	for _, f := range files {
		b.WriteString(ui.Clean(f) + ": changed\n")
	}
	if len(changes)+len(files) > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s of the data", count(len(changes), "change"))
	if total > 0 {
		fmt.Fprintf(&b, "; %d of %s would get another answer", len(machines), count(total, "recorded machine"))
	}
	b.WriteString("\n")
	for _, m := range machines {
		fmt.Fprintf(&b, "  %s\n    was  %s\n    now  %s\n", m.Machine, m.Old, m.New)
	}
	return b.String()
}

func diffJSON(changes []matrix.Change, files []string, machines []machineChange, total int) any {
	type change struct {
		Table string `json:"table"`
		Row   string `json:"row"`
		Field string `json:"field,omitempty"`
		Old   string `json:"old"`
		New   string `json:"new"`
	}
	list := []change{}
	for _, c := range changes {
		list = append(list, change{c.Table, c.Row, c.Field, c.Old, c.New})
	}
	return map[string]any{"format": 1, "changes": list, "files": append([]string{}, files...), "machines": total, "answers": append([]machineChange{}, machines...)}
}
